import { violates } from '../../../platform/db/connections/database-errors.ts'
import type { Db } from '../../../platform/db/database.ts'
import { PROVIDER } from './contract.ts'

/**
 * Reserves a login for the person of the identity provider who signs in to it first, and returns whether this is that
 * person. A provider may give an address to another person later, but not a subject. A login that was used before
 * identities were recorded is reserved for a subject that has signed in to it then.
 */
export async function pinIdentity(
  db: Db,
  loginId: string,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<boolean> {
  const seen = db
    .selectFrom('login_credentials')
    .select('id')
    .where('login_id', '=', loginId)
    .where('provider_id', '=', PROVIDER)
  const pinned = await db
    .updateTable('logins')
    .set({ issuer, subject })
    .where('id', '=', loginId)
    .where('subject', 'is', null)
    .where((eb) => eb.or([eb.not(eb.exists(seen)), eb.exists(seen.where('subject', '=', subject))]))
    .returning('id')
    .executeTakeFirst()
    .catch((error: unknown) => {
      if (!violates(error, 'logins_identity')) throw error
      return undefined
    })
  if (pinned) return true
  const same = await db
    .selectFrom('logins')
    .select('id')
    .where('id', '=', loginId)
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return same !== undefined
}
