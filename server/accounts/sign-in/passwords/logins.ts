import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import type { Role } from '../../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { changeMemberRow, createMember, lockMembers, type MemberRow } from '../../records/members.ts'
import { PROVIDER } from '../provider/contract.ts'

/** Hashes a password. This is slow on purpose, so call it before a transaction begins. */
export async function hashOfPassword(password: string): Promise<string> {
  const { hashPassword } = await import('better-auth/crypto')
  return hashPassword(password)
}

type NewLogin = {
  accountId: AccountId
  email: string
  name: string
  role: Role
  agentIds: string[] | null
  passwordHash: string
}

/**
 * Creates a login for a new member of the account, or for the existing member with this address who has none yet.
 * Throws RESOURCE_DUPLICATE when the address already has a login, and MEMBER_LIMIT_REACHED.
 */
export async function addLogin(trx: Trx, wanted: NewLogin): Promise<{ memberId: string }> {
  const { accountId, name, role, agentIds, passwordHash } = wanted
  const email = wanted.email.toLowerCase()
  await lockMembers(trx, accountId)
  const account = await trx
    .selectFrom('accounts')
    .select(['id', 'plan'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  const known = await trx
    .selectFrom('members')
    .select('id')
    .where('account_id', '=', accountId)
    .where((eb) => eb(eb.fn<string>('lower', ['email']), '=', email))
    .executeTakeFirst()
  const made = known ?? (await createMember(trx, account, { email, name, role, agentIds }))
  if (made === 'full' || made === 'taken') throw new ApiError('MEMBER_LIMIT_REACHED')
  const memberId = made.id
  const login = await trx
    .insertInto('logins')
    .values({ id: newId(), member_id: memberId, name, email, email_verified: true })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!login)
    throw new ApiError('RESOURCE_DUPLICATE', { message: 'This address is already used to sign in.' })
  if (known) await changeMemberRow(trx, accountId, memberId, { name, role, agentIds })
  await trx.insertInto('login_credentials').values(passwordOf(login.id, passwordHash)).execute()
  return { memberId }
}

const passwordOf = (loginId: string, passwordHash: string) => ({
  id: newId(),
  login_id: loginId,
  provider_id: 'credential',
  subject: loginId,
  password: passwordHash,
})

/** Replaces the member's password and ends all sessions. A member without a login gets one. */
export async function replacePassword(trx: Trx, member: MemberRow, passwordHash: string): Promise<void> {
  const login = await loginOf(trx, member.id)
  if (!login) {
    const { account_id, email, name, role, agent_ids } = member
    await addLogin(trx, { accountId: account_id, email, name, role, agentIds: agent_ids, passwordHash })
    return
  }
  await trx
    .insertInto('login_credentials')
    .values(passwordOf(login.id, passwordHash))
    .onConflict((conflict) =>
      conflict
        .columns(['provider_id', 'subject'])
        .doUpdateSet({ password: passwordHash, updated_at: new Date() }),
    )
    .execute()
  await trx.deleteFrom('login_sessions').where('login_id', '=', login.id).execute()
}

/** Returns the member's login; undefined when there is none yet. */
const loginOf = (db: Db, memberId: string) =>
  db
    .selectFrom('logins')
    .select(['id', 'email', 'subject', 'two_factor_enabled'])
    .where('member_id', '=', memberId)
    .executeTakeFirst()

/** Returns the member whose login has this address. */
export const memberByLogin = (db: Db, email: string): Promise<MemberRow | undefined> =>
  db
    .selectFrom('logins')
    .innerJoin('members', 'members.id', 'logins.member_id')
    .selectAll('members')
    .where('logins.email', '=', email.trim().toLowerCase())
    .executeTakeFirst()

/** Removes the member's second factor and ends all sessions. Returns false when the member has none. */
export async function removeSecondFactor(trx: Trx, memberId: string): Promise<boolean> {
  const login = await loginOf(trx, memberId)
  if (!login?.two_factor_enabled) return false
  await trx.deleteFrom('login_second_factors').where('login_id', '=', login.id).execute()
  await trx.updateTable('logins').set({ two_factor_enabled: false }).where('id', '=', login.id).execute()
  await trx.deleteFrom('login_sessions').where('login_id', '=', login.id).execute()
  return true
}

/**
 * Unlinks the member from their identity at the provider, so that the next person there with the member's address can
 * sign in, and ends all sessions. Returns false when the member is not linked.
 */
export async function removeIdentity(trx: Trx, memberId: string): Promise<boolean> {
  const login = await loginOf(trx, memberId)
  if (!login) return false
  const { numDeletedRows } = await trx
    .deleteFrom('login_credentials')
    .where('login_id', '=', login.id)
    .where('provider_id', '=', PROVIDER)
    .executeTakeFirst()
  if (numDeletedRows === 0n && login.subject === null) return false
  await trx.updateTable('logins').set({ issuer: null, subject: null }).where('id', '=', login.id).execute()
  await trx.deleteFrom('login_sessions').where('login_id', '=', login.id).execute()
  return true
}

/** Gives the member's login, if there is one, the name of the member. */
export async function setLoginName(trx: Trx, memberId: string, name: string): Promise<void> {
  await trx.updateTable('logins').set({ name }).where('member_id', '=', memberId).execute()
}
