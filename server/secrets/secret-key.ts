import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
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

/**
 * The key of this installation: SECRET_KEY, or a file in the data folder made at the first start. Refuses to go
 * on with another key than the database knows, before anything is read with it. Throws SecretRefused.
 */
export async function openSecrets(db: Db, secretKey: string | null, dataDir: string): Promise<Secrets> {
  const secrets = createSecrets(secretKey ?? (await keptKey(dataDir)))
  const known = await db.selectFrom('settings').select('value').where('name', '=', CHECK).executeTakeFirst()
  if (!known) {
    await db
      .insertInto('settings')
      .values({ name: CHECK, value: json(secrets.encrypt(CHECK_TEXT)) })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return secrets
  }
  try {
    if (secrets.decrypt(String(known.value)) === CHECK_TEXT) return secrets
  } catch {
    // Said below in words.
  }
  throw new SecretRefused(
    secretKey === null
      ? `The key in ${join(dataDir, 'secret.key')} is not the one this database was used with. Put the old file back, or set SECRET_KEY.`
      : 'SECRET_KEY is not the one this database was used with. Set the old one again.',
  )
}

async function keptKey(dataDir: string): Promise<string> {
  const file = join(dataDir, 'secret.key')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return (await readFile(file, 'utf8')).trim()
}
