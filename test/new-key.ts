import { createKey } from '../server/accounts/keys/keys.ts'
import { createAccount } from '../server/accounts/records/accounts.ts'
import { openEmbedded, openPostgres } from '../server/platform/db/database.ts'
import type { Home } from './spawn-service.ts'

/**
 * Creates an account in a database that no process uses yet, and returns a key of it. Two commands would do the same
 * and take seconds.
 */
export async function newKey({ env, folder }: Home): Promise<string> {
  const { db, close } = env.DATABASE_URL ? openPostgres(env.DATABASE_URL, 1) : await openEmbedded(folder)
  const { key } = await createKey(db, await createAccount(db, 'K'), { name: 'k' })
  await close()
  return key
}
