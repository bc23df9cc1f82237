import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Db } from '../db/database.ts'
import { json } from '../db/json.ts'
import { createSecrets, type Secrets } from './secrets.ts'

/** The secret key is not the one that the database's secrets were encrypted with. */
export class SecretRefused extends Error {
  override name = 'SecretRefused'
}

const CHECK = 'secret-check'
const CHECK_TEXT = 'parley'
/** Characters; the same as for SECRET_KEY. */
const SHORTEST = 32

/**
 * The key of this installation: SECRET_KEY, or a file in the data folder made at the first start. Refuses to go
 * on with another key than the database knows, before anything is read with it. Throws SecretRefused.
 */
export async function openSecrets(db: Db, secretKey: string | null, dataDir: string): Promise<Secrets> {
  const secrets = createSecrets(secretKey ?? (await keptKey(dataDir)))
  // Of several processes that start at once on a new database, the first one's key is the one that counts.
  await db
    .insertInto('settings')
    .values({ name: CHECK, value: json(secrets.encrypt(CHECK_TEXT)) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { value } = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', CHECK)
    .executeTakeFirstOrThrow()
  if (opens(secrets, String(value))) return secrets
  throw new SecretRefused(
    secretKey === null
      ? `The key in ${join(dataDir, 'secret.key')} is not the one this database was used with. Put the old file back, or set SECRET_KEY.`
      : 'SECRET_KEY is not the one this database was used with. Set the old one again.',
  )
}

function opens(secrets: Secrets, text: string): boolean {
  try {
    return secrets.decrypt(text) === CHECK_TEXT
  } catch {
    return false
  }
}

/** The file appears with its whole content or not at all: a start that is cut off must not leave a shorter key. */
async function keptKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'secret.key')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}.tmp`
    await writeFile(unfinished, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    // A link never replaces the key that another process has made meanwhile.
    await link(unfinished, file).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPERM' || error.code === 'ENOTSUP') await rename(unfinished, file)
      else if (error.code !== 'EEXIST') throw error
    })
    await rm(unfinished, { force: true })
  }
  const key = (await readFile(file, 'utf8')).trim()
  if (key.length < SHORTEST) throw new SecretRefused(`The key in ${file} is damaged. Put the old file back.`)
  return key
}
