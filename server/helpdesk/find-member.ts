import type { Db } from '../db/database.ts'
import { isId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError, invalidField } from '../http/errors.ts'

export type Member = { id: string; name: string; email: string }

type Named = { memberId?: string; memberEmail?: string }

/** Throws VALIDATION_INVALID_BODY unless exactly one of the two is given. */
export function requireOne({ memberId, memberEmail }: Named): void {
  if ((memberId === undefined) === (memberEmail === undefined)) {
    throw invalidField('memberId', 'Send exactly one of memberId and memberEmail.')
  }
}

/** The team member; TEAM_MEMBER_NOT_FOUND when nobody of the account matches. */
export async function requireMember(
  db: Db,
  accountId: AccountId,
  { memberId, memberEmail }: Named,
): Promise<Member> {
  if (memberId !== undefined && !isId(memberId)) throw new ApiError('TEAM_MEMBER_NOT_FOUND')
  const members = db.selectFrom('members').select(['id', 'name', 'email']).where('account_id', '=', accountId)
  const found = await (memberId === undefined
    ? members.where((eb) => eb(eb.fn<string>('lower', ['email']), '=', (memberEmail ?? '').toLowerCase()))
    : members.where('id', '=', memberId)
  ).executeTakeFirst()
  if (!found) throw new ApiError('TEAM_MEMBER_NOT_FOUND')
  return found
}
