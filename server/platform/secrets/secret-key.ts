import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../db/database.ts'
import { addSetting, readSetting, writeSetting } from '../db/settings.ts'
import { countForeignRows } from './foreign-rows.ts'
import { rewriteSecrets } from './rewrite-secrets.ts'
import { readRotation } from './rotation-row.ts'
import { createSealKey, type SealKey, sealedBy } from './seal.ts'
import { CHECK, CHECK_PLACE, CHECK_TEXT } from './secret-check.ts'
import { createSecrets, type Secrets } from './secrets.ts'

/** Thrown when the secret key is not the one with which the database's secrets were encrypted. */
export class SecretRefused extends Error {
  override name = 'SecretRefused'
}

/** The least number of characters, which is the same as for SECRET_KEY. */
export const MIN_KEY_LENGTH = 32

/**
 * Returns the key of this installation: SECRET_KEY, or a file in the data folder that is created at the first start.
 * A key that does not match the database is refused before anything is decrypted with it. Throws SecretRefused.
 */
export async function openSecrets(db: Db, secretKey: string | null, dataDir: string): Promise<Secrets> {
  const key = createSealKey(secretKey ?? (await keptKey(dataDir)))
  const rotation = await readRotation(db, new Map([[key.id, key]]))
  // A restored backup has rows but no check, so the rows themselves are examined.
  const foreign = await countForeignRows(db, rotation ? [rotation.from.id, rotation.to.id] : [key.id])
  if (foreign > 0)
    throw new SecretRefused(
      `${foreign === 1 ? 'One row' : `${foreign} rows`} of this database (headers of actions, connections) cannot be opened with ${nameOf(secretKey, dataDir)}. After a restore, set SECRET_KEY to the key of the installation that the backup comes from, or put its secret.key into DATA_DIR. If that key is lost, restore again with --without-secrets.`,
    )
  // When several processes start at the same time on a new database, the first one's key is used.
  await addSetting(db, CHECK, key.seal(CHECK_TEXT, CHECK_PLACE))
  const value = await readSetting(db, CHECK)
  if (opens(key, String(value)) || rotation?.to.id === key.id) {
    const secrets = createSecrets(db, key)
    if (!rotation && !String(value).startsWith(sealedBy(key.id))) await writeCheck(db, key)
    // Handles values written by an earlier version, or left by an interrupted rotation.
    await rewriteSecrets(db, secrets, (rotation?.to ?? key).id)
    return secrets
  }
  throw new SecretRefused(
    secretKey === null
      ? `The key in ${join(dataDir, 'secret.key')} is not the one this database was used with. Put the old file back, or set SECRET_KEY.`
      : 'SECRET_KEY is not the one this database was used with. Set the old one again.',
  )
}

const nameOf = (secretKey: string | null, dataDir: string): string =>
  secretKey === null ? `the key in ${join(dataDir, 'secret.key')}` : 'SECRET_KEY'

function opens(key: SealKey, text: string): boolean {
  try {
    return key.open(text, CHECK_PLACE) === CHECK_TEXT
  } catch {
    return false
  }
}

async function writeCheck(db: Db, key: SealKey): Promise<void> {
  await writeSetting(db, CHECK, key.seal(CHECK_TEXT, CHECK_PLACE))
}

/**
 * The file appears with its whole content or not at all, because an interrupted start must not leave a shorter key.
 */
async function keptKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'secret.key')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}.tmp`
    await writeFile(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    // A link never replaces a key that another process has created meanwhile.
    await link(unfinished, file).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPERM' || error.code === 'ENOTSUP') await rename(unfinished, file)
      else if (error.code !== 'EEXIST') throw error
    })
    await rm(unfinished, { force: true })
  }
  const key = (await readFile(file, 'utf8')).trim()
  if (key.length < MIN_KEY_LENGTH)
    throw new SecretRefused(`The key in ${file} is damaged. Put the old file back.`)
  return key
}

/** Replaces the stored key atomically. */
export async function keepKey(dataDir: string, secret: string): Promise<void> {
  const unfinished = join(dataDir, `secret.key.${process.pid}.tmp`)
  await writeFile(unfinished, `${secret}\n`, { mode: 0o600, flush: true })
  await rename(unfinished, join(dataDir, 'secret.key'))
}
