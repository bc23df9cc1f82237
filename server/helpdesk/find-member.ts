import type { Db } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError, invalidField } from '../http/errors.ts'

export type Member = { id: string; name: string; email: string }

/**
 * The team member that exactly one of the two names. VALIDATION_INVALID_BODY when none or both are given,
 * TEAM_MEMBER_NOT_FOUND when nobody matches.
 */
export async function requireMember(
  db: Db,
  accountId: AccountId,
  { memberId, memberEmail }: { memberId?: string; memberEmail?: string },
): Promise<Member> {
  if ((memberId === undefined) === (memberEmail === undefined)) {
    throw invalidField('memberId', 'Send exactly one of memberId and memberEmail.')
  }
  if (memberId !== undefined && !isId(memberId)) throw new ApiError('TEAM_MEMBER_NOT_FOUND')
  const members = db.selectFrom('members').select(['id', 'name', 'email']).where('account_id', '=', accountId)
  const found = await (memberId === undefined
    ? members.where((eb) => eb(eb.fn<string>('lower', ['email']), '=', (memberEmail ?? '').toLowerCase()))
    : members.where('id', '=', memberId)
  ).executeTakeFirst()
  if (!found) throw new ApiError('TEAM_MEMBER_NOT_FOUND')
  return found
}
