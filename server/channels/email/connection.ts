import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { json } from '../../db/json.ts'
import type { AccountId, EmailConnectionsTable, MailServer } from '../../db/tables.ts'
import { transact } from '../../db/transact.ts'

export type ConnectionRow = Selectable<EmailConnectionsTable>

export type NewConnection = {
  address: string
  fromName?: string
  mode: 'agent' | 'tickets'
  plusAddressing: boolean
  smtp: ServerLogin
  imap?: ServerLogin & { mailbox?: string }
  inboundSecret?: string
}
export type ServerLogin = Omit<MailServer, 'username'> & { username?: string; password?: string }

/**
 * Stores the mailbox of an agent in place of the one it has. A password or secret that is left out stays as it is for
 * the same login (for another it would be told to another server); reading goes on where it stood for the same mailbox.
 */
export async function putConnection(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  accountId: AccountId,
  agentId: string,
  wanted: NewConnection,
): Promise<void> {
  await transact(db, async (trx) => {
    const old = await rowOf(trx, accountId, agentId, true)
    const encrypted = (text: string | undefined): string | null =>
      text === undefined ? null : secrets.encrypt(text)
    const smtp = serverOf(wanted.smtp)
    const imap = wanted.imap ? { ...serverOf(wanted.imap), mailbox: wanted.imap.mailbox ?? 'INBOX' } : null
    const sameSmtp = isSameLogin(old?.smtp ?? null, smtp)
    const sameImap = isSameLogin(old?.imap ?? null, imap)
    const sameMailbox = sameImap && old?.imap?.mailbox === imap?.mailbox
    const values = {
      address: wanted.address.toLowerCase(),
      from_name: wanted.fromName ?? null,
      mode: wanted.mode,
      plus_addressing: wanted.plusAddressing,
      smtp: json(smtp),
      smtp_password: encrypted(wanted.smtp.password) ?? (sameSmtp ? (old?.smtp_password ?? null) : null),
      imap: json(imap),
      imap_password: encrypted(wanted.imap?.password) ?? (sameImap ? (old?.imap_password ?? null) : null),
      inbound_secret: encrypted(wanted.inboundSecret) ?? old?.inbound_secret ?? null,
      smtp_error: null,
      imap_error: null,
      read_failures: 0,
      next_read_at: new Date(),
      lease_id: null,
      lease_until: null,
      ...(sameMailbox ? {} : { reads_from: new Date(), uid_validity: null, last_uid: null }),
      updated_at: new Date(),
    }
    await trx
      .insertInto('email_connections')
      .values({
        agent_id: agentId,
        account_id: accountId,
        mark_key: secrets.encrypt(randomBytes(32).toString('base64')),
        uid_validity: null,
        last_uid: null,
        ...values,
      })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet(values))
      .execute()
  })
}

const serverOf = ({ host, port, security, username }: ServerLogin): MailServer => ({
  host,
  port,
  security,
  username: username ?? null,
})

const isSameLogin = (a: MailServer | null, b: MailServer | null): boolean =>
  a?.host === b?.host && a?.port === b?.port && a?.security === b?.security && a?.username === b?.username

export async function deleteConnection(db: Db, accountId: AccountId, agentId: string): Promise<void> {
  await db
    .deleteFrom('email_connections')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .execute()
}

export async function rowOf(
  db: Db,
  accountId: AccountId,
  agentId: string,
  lock = false,
): Promise<ConnectionRow | undefined> {
  const query = db
    .selectFrom('email_connections')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
  return (lock ? query.forUpdate() : query).executeTakeFirst()
}

export const markKeyOf = ({ secrets }: Pick<Context, 'secrets'>, { mark_key }: ConnectionRow): Buffer =>
  Buffer.from(secrets.decrypt(mark_key), 'base64')

export type Login = MailServer & { password: string | null }

export const smtpLogin = ({ secrets }: Pick<Context, 'secrets'>, row: ConnectionRow): Login => ({
  ...row.smtp,
  password: row.smtp_password === null ? null : secrets.decrypt(row.smtp_password),
})

export const imapLogin = (
  { secrets }: Pick<Context, 'secrets'>,
  { imap, imap_password }: ConnectionRow,
): (Login & { mailbox: string }) | null =>
  imap && { ...imap, password: imap_password === null ? null : secrets.decrypt(imap_password) }

/** Notes how a server was found; the row is written when that has changed, or was noted a minute ago. */
export async function noteSmtp(db: Db, row: ConnectionRow, error: string | null): Promise<void> {
  const isFresh = row.smtp_checked_at !== null && Date.now() - row.smtp_checked_at.getTime() < 60_000
  if (isFresh && row.smtp_error === error) return
  await db
    .updateTable('email_connections')
    .set({ smtp_error: error, smtp_checked_at: new Date() })
    .where('account_id', '=', row.account_id)
    .where('agent_id', '=', row.agent_id)
    .execute()
}
