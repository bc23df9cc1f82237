import type { Context } from '../../../context.ts'
import { describeMailError } from '../../../platform/mail/mail-failure.ts'
import { openSmtp } from '../../../platform/mail/smtp.ts'
import { withImap } from '../inbound/imap.ts'
import { type ConnectionRow, imapLogin, recordSmtp, smtpLogin } from './connection.ts'
import { becomeReader } from './one-reader.ts'

const MAX_MS = 45_000

/** Logs in to both servers, asks whether mails from the address are accepted, and opens the mailbox. Returns for each server a sentence if it failed, or null. */
export async function tryServers(
  ctx: Pick<Context, 'db' | 'fetcher' | 'secrets' | 'config'>,
  row: ConnectionRow,
  { maxMs = MAX_MS } = {},
): Promise<{ smtp: string | null; imap: string | null }> {
  const [smtp, imap] = await Promise.all([trySmtp(ctx, row, maxMs), tryImap(ctx, row, maxMs)])
  await recordSmtp(ctx.db, { ...row, smtp_checked_at: null }, smtp)
  if (row.imap) {
    await ctx.db
      .updateTable('email_connections')
      .set({
        imap_error: imap,
        imap_checked_at: new Date(),
        ...(imap === null ? { next_read_at: new Date() } : {}),
      })
      .where('account_id', '=', row.account_id)
      .where('agent_id', '=', row.agent_id)
      .where('updated_at', '=', row.updated_at)
      .execute()
  }
  return { smtp, imap }
}

type Deps = Pick<Context, 'db' | 'fetcher' | 'secrets' | 'config'>

async function trySmtp(ctx: Deps, row: ConnectionRow, maxMs: number): Promise<string | null> {
  const { allowedPrivateHosts } = ctx.config
  try {
    const signal = AbortSignal.timeout(maxMs)
    const smtp = await openSmtp(await smtpLogin(ctx, row), {
      address: row.address,
      allowedPrivateHosts,
      signal,
    })
    await smtp.probe().finally(smtp.close)
    return null
  } catch (error) {
    return describeMailError(error, row.smtp.host).message
  }
}

async function tryImap(ctx: Deps, row: ConnectionRow, maxMs: number): Promise<string | null> {
  if (!row.imap) return null
  const { host, mailbox } = row.imap
  let isOpening = false
  try {
    const login = await imapLogin(ctx, row)
    if (!login) return null
    await withImap(login, ctx.config.allowedPrivateHosts, { maxMs }, async (client) => {
      isOpening = true
      const { uidValidity } = await client.mailboxOpen(mailbox, { readOnly: true })
      isOpening = false
      await becomeReader(ctx.db, row, uidValidity)
    })
    return null
  } catch (error) {
    const { message } = describeMailError(error, host)
    return isOpening ? `The mailbox ${mailbox} cannot be opened. ${message}` : message
  }
}
