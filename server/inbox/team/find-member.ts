import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Details, refuseInvalid } from '../../platform/http/input/validate.ts'
import type { Caller } from '../../platform/http/route.ts'

export type Member = { id: string; name: string; email: string }

type Named = { memberId?: string; memberEmail?: string }

/** Returns a problem unless exactly one of the two is given. `what` is the prefix of the field names. */
export function problemsOfName({ memberId, memberEmail }: Named, what = 'member'): Details {
  return (memberId === undefined) === (memberEmail === undefined)
    ? { [`${what}Id`]: `Send exactly one of ${what}Id and ${what}Email.` }
    : {}
}

/**
 * Returns the author that is named. Throws VALIDATION_INVALID_BODY unless exactly one of the two is given, or when
 * `problems` has any.
 */
export function authorOf(
  { authorId, authorEmail }: { authorId?: string; authorEmail?: string },
  problems: Details = {},
): Named {
  const named = {
    ...(authorId === undefined ? {} : { memberId: authorId }),
    ...(authorEmail === undefined ? {} : { memberEmail: authorEmail }),
  }
  refuseInvalid({ ...problemsOfName(named, 'author'), ...problems })
  return named
}

/** Returns the team member; null when the account has no match. Addresses match regardless of case. */
export async function findMember(
  db: Db,
  accountId: AccountId,
  { memberId, memberEmail }: Named,
): Promise<Member | null> {
  if (memberId !== undefined && !isId(memberId)) return null
  const members = db.selectFrom('members').select(['id', 'name', 'email']).where('account_id', '=', accountId)
  const found = await (memberId === undefined
    ? members.where((eb) =>
        eb(eb.fn<string>('lower', ['email']), '=', (memberEmail ?? '').trim().toLowerCase()),
      )
    : members.where('id', '=', memberId)
  ).executeTakeFirst()
  return found ?? null
}

/** The same, but throws TEAM_MEMBER_NOT_FOUND, or the given code, when there is no match. */
export async function requireMember(
  db: Db,
  accountId: AccountId,
  named: Named,
  code: 'TEAM_MEMBER_NOT_FOUND' | 'TICKET_TEAM_MEMBER_NOT_FOUND' = 'TEAM_MEMBER_NOT_FOUND',
): Promise<Member> {
  const found = await findMember(db, accountId, named)
  if (!found) throw new ApiError(code)
  return found
}

/**
 * Returns the member in whose name the caller writes or takes over. A key may name any member, and a member who is
 * signed in only that member itself.
 */
export async function requireAuthor(db: Db, { account, member }: Caller, named: Named): Promise<Member> {
  const found = await requireMember(db, account.id, named)
  if (!member || member.id === found.id) return found
  throw new ApiError('AUTH_INSUFFICIENT_PERMISSIONS', {
    message: 'A signed-in member cannot do this in the name of another member.',
  })
}
