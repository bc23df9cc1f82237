import { createHash } from 'node:crypto'
import type { Db } from '../../../platform/db/database.ts'

/** A code is accepted from half a minute before its own half-minute until half a minute after it. */
const MAX_VALID_MS = 3 * 60_000

/** Returns the same UUID (version 8) for the same login and code. */
function idOf(loginId: string, code: string): string {
  const bytes = createHash('sha256').update(`used code ${loginId} ${code}`).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * Marks a correct code of an authenticator as used. Returns false if it was used before. Of several requests with the
 * same code, one gets true.
 */
export async function claimCode(db: Db, loginId: string, code: string): Promise<boolean> {
  const now = new Date()
  const expires = new Date(now.getTime() + MAX_VALID_MS)
  const id = idOf(loginId, code)
  const claimed = await db
    .insertInto('login_challenges')
    .values({ id, identifier: `used code ${id}`, value: loginId, expires_at: expires })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ expires_at: expires })
        .where('login_challenges.expires_at', '<', now),
    )
    .returning('id')
    .executeTakeFirst()
  return claimed !== undefined
}
