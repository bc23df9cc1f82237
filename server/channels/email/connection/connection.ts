import { randomBytes } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { EmailConnectionsTable, MailOauth, MailServer } from '../../../platform/db/tables/channels.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import type { Login } from '../../../platform/mail/reach-host.ts'
import { placeOfRow } from '../../../platform/secrets/sealed-columns.ts'
import type { LastUse } from '../../registry/connection-status.ts'
import { accessTokenOf, renewToken } from './access-token.ts'
import { isReading } from './one-reader.ts'
import { enqueueWithdrawal } from './withdraw-later.ts'

export type ConnectionRow = Selectable<EmailConnectionsTable>

export type NewConnection = {
  address: string
  fromName?: string
  mode: 'agent' | 'tickets'
  plusAddressing: boolean
  smtp: ServerLogin
  imap?: ServerLogin & { mailbox?: string }
  inboundSecret?: string
  authority?: string
  keepsSent: boolean
  oauth?: NewOauth
}
type NewOauth = Omit<MailOauth, 'scope'> & { scope?: string; clientSecret?: string; refreshToken?: string }
type ServerLogin = Omit<MailServer, 'username'> & { username?: string; password?: string }

/**
 * Stores the mailbox of an agent in place of the one it has. A password or secret that is left out stays as it is
 * for the same login; another login would send it to another server. For the same mailbox, reading continues where
 * it stopped. The permission of a provider that it no longer uses is withdrawn.
 */
export async function putConnection(
  { db, jobs, secrets }: Pick<Context, 'db' | 'jobs' | 'secrets'>,
  { accountId, agentId }: AgentRef,
  wanted: NewConnection,
): Promise<void> {
  await transact(db, async (trx) => {
    const old = await rowOf(trx, { accountId, agentId }, true)
    const encrypted = async (text: string | undefined, column: string): Promise<string | null> =>
      text === undefined ? null : secrets.encrypt(trx, text, placeOf(agentId, column))
    const smtp = serverOf(wanted.smtp)
    const imap = wanted.imap ? { ...serverOf(wanted.imap), mailbox: wanted.imap.mailbox ?? 'INBOX' } : null
    const sameSmtp = isSameLogin(old?.smtp ?? null, smtp)
    const sameImap = isSameLogin(old?.imap ?? null, imap)
    const sameMailbox = sameImap && old?.imap?.mailbox === imap?.mailbox
    if (imap) await refuseSecondAgent(trx, { accountId, agentId }, imap)
    const oauth = wanted.oauth ? oauthOf(wanted.oauth, old?.oauth ?? null) : null
    const sameClient = isSameClient(old?.oauth ?? null, oauth)
    // The servers are given the token, so other servers must not get one either.
    const keepsOauth = oauth !== null && sameClient && sameSmtp && (imap === null || sameImap)
    const values = {
      address: wanted.address.toLowerCase(),
      from_name: wanted.fromName ?? null,
      mode: wanted.mode,
      plus_addressing: wanted.plusAddressing,
      authority: wanted.authority ?? null,
      keeps_sent: wanted.keepsSent,
      sent_error: null,
      smtp: json(smtp),
      smtp_password:
        (await encrypted(wanted.smtp.password, 'smtp_password')) ??
        (sameSmtp ? (old?.smtp_password ?? null) : null),
      imap: json(imap),
      imap_password:
        (await encrypted(wanted.imap?.password, 'imap_password')) ??
        (sameImap ? (old?.imap_password ?? null) : null),
      oauth: json(oauth),
      oauth_client_secret:
        (await encrypted(wanted.oauth?.clientSecret, 'oauth_client_secret')) ??
        (keepsOauth ? (old?.oauth_client_secret ?? null) : null),
      oauth_refresh_token:
        (await encrypted(wanted.oauth?.refreshToken, 'oauth_refresh_token')) ??
        (keepsOauth ? (old?.oauth_refresh_token ?? null) : null),
      oauth_access_token: null,
      oauth_expires_at: null,
      inbound_secret:
        (await encrypted(wanted.inboundSecret, 'inbound_secret')) ?? old?.inbound_secret ?? null,
      smtp_error: null,
      smtp_checked_at: null,
      smtp_refusals: 0,
      imap_error: null,
      imap_checked_at: null,
      read_failures: 0,
      next_read_at: new Date(),
      lease_id: null,
      lease_until: null,
      ...(sameMailbox && isReading(old) ? {} : { reader_since: null }),
      ...(sameMailbox
        ? {}
        : { reads_from: new Date(), uid_validity: null, last_uid: null, stuck_uid: null, stuck_tries: 0 }),
      updated_at: new Date(),
    }
    await trx
      .insertInto('email_connections')
      .values({
        agent_id: agentId,
        account_id: accountId,
        mark_key: await secrets.encrypt(
          trx,
          randomBytes(32).toString('base64'),
          placeOf(agentId, 'mark_key'),
        ),
        uid_validity: null,
        last_uid: null,
        ...values,
      })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
      .execute()
    if (old && old.oauth_refresh_token !== values.oauth_refresh_token) await enqueueWithdrawal(jobs, trx, old)
  })
}

/** Two agents would both answer each mail of one mailbox. Throws RESOURCE_DUPLICATE. */
async function refuseSecondAgent(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { host, username, mailbox }: MailServer & { mailbox: string },
): Promise<void> {
  const place = [host.toLowerCase(), username ?? '', mailbox]
  await sql`select pg_advisory_xact_lock(hashtextextended(${[accountId, ...place].join(' ')}, 0))`.execute(
    trx,
  )
  const { rows } = await sql<{ name: string }>`
    select agents.name from email_connections join agents on agents.id = email_connections.agent_id
    where email_connections.account_id = ${accountId} and agents.account_id = ${accountId}
      and email_connections.agent_id <> ${agentId}
      and lower(imap ->> 'host') = ${place[0]} and coalesce(imap ->> 'username', '') = ${place[1]}
      and imap ->> 'mailbox' = ${mailbox}
    limit 1`.execute(trx)
  const [other] = rows
  if (other)
    throw new ApiError('RESOURCE_DUPLICATE', {
      message: `The agent “${other.name}” already reads this mailbox, and both would answer each mail. Disconnect it there first, or choose another folder.`,
    })
}

const isSameClient = (a: NewOauth | MailOauth | null, b: NewOauth | MailOauth | null): boolean =>
  a?.tokenUrl === b?.tokenUrl && a?.clientId === b?.clientId

/** What is known of the same client stays, whether its permission was given in the browser or entered. */
function oauthOf(wanted: NewOauth, old: MailOauth | null): MailOauth {
  const { clientSecret: _secret, refreshToken: _token, scope = null, ...rest } = wanted
  return { ...(isSameClient(old, wanted) ? old : {}), ...rest, scope }
}

const serverOf = ({ host, port, security, username }: ServerLogin): MailServer => ({
  host,
  port,
  security,
  username: username ?? null,
})

const isSameLogin = (a: MailServer | null, b: MailServer | null): boolean =>
  a?.host === b?.host && a?.port === b?.port && a?.security === b?.security && a?.username === b?.username

/** Deletes the connection and returns it. */
export const deleteConnection = (db: Db, ref: AgentRef): Promise<ConnectionRow | undefined> =>
  db.deleteFrom('email_connections').where(ofAgent(ref)).returningAll().executeTakeFirst()

export async function rowOf(db: Db, ref: AgentRef, lock = false): Promise<ConnectionRow | undefined> {
  const query = db.selectFrom('email_connections').selectAll().where(ofAgent(ref))
  return (lock ? query.forUpdate() : query).executeTakeFirst()
}

const placeOf = (agentId: string, column: string) => placeOfRow('email_connections', agentId, column)

const opened = async (
  { secrets }: Pick<Context, 'secrets'>,
  { agent_id }: Pick<ConnectionRow, 'agent_id'>,
  column: string,
  text: string | null,
  within?: Db,
): Promise<string | null> => (text === null ? null : secrets.decrypt(text, placeOf(agent_id, column), within))

export const markKeyOf = async (
  ctx: Pick<Context, 'secrets'>,
  row: ConnectionRow,
  within?: Db,
): Promise<Buffer> => Buffer.from((await opened(ctx, row, 'mark_key', row.mark_key, within)) ?? '', 'base64')

/** The secret that signs mails posted to the agent; null when the agent accepts none. */
export const inboundSecretOf = (ctx: Pick<Context, 'secrets'>, row: ConnectionRow): Promise<string | null> =>
  opened(ctx, row, 'inbound_secret', row.inbound_secret)

type LoginDeps = Pick<Context, 'config' | 'db' | 'fetcher' | 'secrets'>

/** Returns the stored secret of the same client; null if there is none. */
export const clientSecretOf = async (
  ctx: Pick<Context, 'secrets'>,
  row: ConnectionRow | undefined,
  client: NewOauth,
): Promise<string | null> =>
  row && isSameClient(row.oauth, client)
    ? opened(ctx, row, 'oauth_client_secret', row.oauth_client_secret)
    : null

/** Returns the permission that a provider has given; null if there is none. */
export const refreshTokenOf = (
  ctx: Pick<Context, 'secrets'>,
  row: Pick<ConnectionRow, 'agent_id' | 'oauth_refresh_token'>,
): Promise<string | null> => opened(ctx, row, 'oauth_refresh_token', row.oauth_refresh_token)

const trustOf = async (ctx: LoginDeps, row: ConnectionRow) => ({
  authority: row.authority,
  accessToken: await accessTokenOf(ctx, row),
  renewToken: () => renewToken(ctx, row),
})

export const smtpLogin = async (ctx: LoginDeps, row: ConnectionRow): Promise<Login> => ({
  ...row.smtp,
  ...(await trustOf(ctx, row)),
  password: await opened(ctx, row, 'smtp_password', row.smtp_password),
})

export const imapLogin = async (
  ctx: LoginDeps,
  row: ConnectionRow,
): Promise<(Login & { mailbox: string }) | null> =>
  row.imap && {
    ...row.imap,
    ...(await trustOf(ctx, row)),
    password: await opened(ctx, row, 'imap_password', row.imap_password),
  }

/** Returns how each server of a mailbox was last used. */
export const usesOf = (
  row: Pick<ConnectionRow, 'imap' | 'imap_error' | 'imap_checked_at' | 'smtp_error' | 'smtp_checked_at'>,
): { receiving: LastUse | null; sending: LastUse } => ({
  receiving: row.imap && { error: row.imap_error, checkedAt: row.imap_checked_at },
  sending: { error: row.smtp_error, checkedAt: row.smtp_checked_at },
})

/** Refusals in a row of different mails are no longer about one mail. */
const MAX_REFUSALS = 3

/**
 * Stores that the server has refused a mail, which may be about this mail alone. After several in a row it counts as a
 * failure of the connection.
 */
export async function recordRefusal(db: Db, row: ConnectionRow, error: string): Promise<void> {
  const counted = await db
    .updateTable('email_connections')
    .set({ smtp_refusals: sql<number>`smtp_refusals + 1` })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .returning('smtp_refusals')
    .executeTakeFirst()
  if (counted && counted.smtp_refusals >= MAX_REFUSALS)
    await recordSmtp(db, row, `The last ${counted.smtp_refusals} mails were refused. ${error}`)
}

/** Stores the state of a server. The row is written only when the state has changed or is a minute old. */
export async function recordSmtp(db: Db, row: ConnectionRow, error: string | null): Promise<void> {
  const isFresh = row.smtp_checked_at !== null && Date.now() - row.smtp_checked_at.getTime() < 60_000
  const isKnown = row.smtp_error === error && (error !== null || row.smtp_refusals === 0)
  if (isFresh && isKnown) return
  await db
    .updateTable('email_connections')
    .set({
      smtp_error: error,
      smtp_checked_at: new Date(),
      ...(error === null ? { smtp_refusals: 0 } : {}),
    })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    // The use of the servers before says nothing about these.
    .where('updated_at', '=', row.updated_at)
    .execute()
}

/** Stores why the last sent mail could not be put into its folder; null if it could. */
export async function recordSent(db: Db, row: ConnectionRow, error: string | null): Promise<void> {
  if (row.sent_error === error) return
  await db
    .updateTable('email_connections')
    .set({ sent_error: error })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .where('updated_at', '=', row.updated_at)
    .execute()
}
