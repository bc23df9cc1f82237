import { createHash, randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Role } from '../../platform/db/tables/accounts.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { LoginLinksTable } from '../../platform/db/tables/sign-in.ts'
import { ApiError } from '../../platform/http/errors.ts'

const HOUR = 3_600_000

/** How long a link is valid, in milliseconds. */
export const LINK_MS = { 'set-up': 24 * HOUR, invitation: 7 * 24 * HOUR, reset: HOUR } as const

export type LinkRow = Selectable<LoginLinksTable>
type LinkKind = LinkRow['kind']

const PAGES: Record<LinkKind, string> = { 'set-up': 'setup', invitation: 'invite', reset: 'reset' }

/**
 * Returns the URL of the page that uses the token. The token is in the fragment, which browsers send to no server, so
 * that it is in no log.
 */
export const linkTo = (origin: string, kind: LinkKind, token: string): string =>
  `${origin}/${PAGES[kind]}#${token}`

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

type NewLink = {
  accountId: AccountId
  kind: LinkKind
  createdBy: string
  invited?: { email: string; name: string | null; role: Role; agentIds: string[] | null }
  memberId?: string
}

/** Creates a link with 256 random bits. The token is only in this result; the database stores its hash. */
export async function createLink(
  trx: Db,
  { accountId, kind, createdBy, invited, memberId }: NewLink,
): Promise<{ row: LinkRow; token: string }> {
  const token = randomBytes(32).toString('base64url')
  const row = await trx
    .insertInto('login_links')
    .values({
      id: newId(),
      account_id: accountId,
      kind,
      token_hash: hashOf(token),
      email: invited?.email ?? null,
      name: invited?.name ?? null,
      role: invited?.role ?? null,
      agent_ids: json(invited?.agentIds ?? null),
      member_id: memberId ?? null,
      created_by: createdBy,
      expires_at: new Date(Date.now() + LINK_MS[kind]),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { row, token }
}

/** Returns the link of a token without using it up. Throws AUTH_LINK_INVALID. */
export async function readLink(db: Db, kind: LinkKind, token: string): Promise<LinkRow> {
  const row = await db
    .selectFrom('login_links')
    .selectAll()
    .where('token_hash', '=', hashOf(token))
    .where('kind', '=', kind)
    .where('expires_at', '>', new Date())
    .executeTakeFirst()
  if (!row) throw new ApiError('AUTH_LINK_INVALID')
  return row
}

/**
 * Deletes the link of a token and returns it, in the transaction of what it permits, so that only one of two requests
 * gets it. Throws AUTH_LINK_INVALID.
 */
export async function takeLink(trx: Trx, kind: LinkKind, token: string): Promise<LinkRow> {
  const row = await trx
    .deleteFrom('login_links')
    .where('token_hash', '=', hashOf(token))
    .where('kind', '=', kind)
    .where('expires_at', '>', new Date())
    .returningAll()
    .executeTakeFirst()
  if (!row) throw new ApiError('AUTH_LINK_INVALID')
  return row
}

/** Returns how many reset links of a member are valid. */
export async function openResetLinks(trx: Db, accountId: AccountId, memberId: string): Promise<number> {
  const open = await trx
    .selectFrom('login_links')
    .select('id')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'reset')
    .where('member_id', '=', memberId)
    .where('expires_at', '>', new Date())
    .execute()
  return open.length
}

/** Deletes a link of any kind. */
export async function dropLink(db: Db, accountId: AccountId, id: string): Promise<void> {
  await db.deleteFrom('login_links').where('account_id', '=', accountId).where('id', '=', id).execute()
}

/** Deletes the reset links of a member. */
export async function dropResetLinks(trx: Db, accountId: AccountId, memberId: string): Promise<void> {
  await trx
    .deleteFrom('login_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'reset')
    .where('member_id', '=', memberId)
    .execute()
}

/** Deletes the links of all accounts that expired before the given time. */
export async function dropExpiredLinks(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('login_links').where('expires_at', '<', before).execute()
}

/**
 * Deletes the open invitations made by `createdBy`: a member who may no longer invite must not get back in through
 * one of them.
 */
export async function dropInvitationsBy(trx: Db, accountId: AccountId, createdBy: string): Promise<void> {
  await trx
    .deleteFrom('login_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'invitation')
    .where('created_by', '=', createdBy)
    .execute()
}

/** Deletes an expired invitation of the address, which would keep it from being invited again. */
export async function dropExpiredInvitation(trx: Db, accountId: AccountId, email: string): Promise<void> {
  await trx
    .deleteFrom('login_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'invitation')
    .where((eb) => eb(eb.fn<string>('lower', ['email']), '=', email.toLowerCase()))
    .where('expires_at', '<=', new Date())
    .execute()
}

/** Deletes an invitation. Returns whether there was one. */
export async function dropInvitation(trx: Db, accountId: AccountId, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('login_links')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'invitation')
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}
