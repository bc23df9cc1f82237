import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { statusOf } from '../registry/connection-status.ts'
import {
  type ConnectionRow,
  deleteConnection,
  putConnection,
  rowOf,
  usesOf,
} from './connection/connection.ts'
import { refuseAuthority, refusePlainUrl } from './connection/refuse-unsafe.ts'
import { tryServers } from './connection/try-servers.ts'
import { withdrawPermission } from './connection/withdraw-permission.ts'
import {
  answerSilentMail,
  connectMailbox,
  disconnectMailbox,
  giveSilentMailToTeam,
  listSilentMails,
  readMailboxConnection,
  testMailbox,
} from './contract.ts'
import { giveSilentToTeam, letAnswer } from './silent/give-silent.ts'
import { silentMails } from './silent/list-silent.ts'

const success = { success: true as const }

export const emailRoutes = (
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'jobs' | 'log' | 'notifier' | 'secrets'>,
): Route[] => [
  route(
    connectMailbox,
    {
      check: ({ body }) => {
        refuseAuthority(body.authority)
        refusePlainUrl('oauth.tokenUrl', body.oauth?.tokenUrl, ctx.config.allowedPrivateHosts)
      },
    },
    async ({ ref, body }) => {
      await putConnection(ctx, ref, body)
      return success
    },
  ),

  route(readMailboxConnection, async ({ ref }) => {
    return presentConnection(await requireConnection(ctx, ref))
  }),

  route(disconnectMailbox, async ({ ref }) => {
    const row = await deleteConnection(ctx.db, ref)
    if (row) await withdrawPermission(ctx, row)
    return success
  }),

  route(testMailbox, { idempotencyMode: 'response' }, async ({ ref }) => {
    const row = await requireConnection(ctx, ref)
    const { smtp, imap } = await tryServers(ctx, row)
    return { smtp: outcomeOf(smtp), imap: row.imap ? outcomeOf(imap) : null }
  }),
  route(listSilentMails, async ({ ref }) => silentMails(ctx.db, ref)),
  route(answerSilentMail, async ({ db, ref }) => {
    await transact(db, (trx) => letAnswer(ctx, trx, ref))
    return success
  }),
  route(giveSilentMailToTeam, async ({ db, ref }) => {
    await transact(db, (trx) => giveSilentToTeam(ctx, trx, ref))
    return success
  }),
]

const outcomeOf = (error: string | null) => ({ ok: error === null, error })

async function requireConnection(
  ctx: Pick<Context, 'db'>,
  { accountId, agentId }: AgentRef,
): Promise<ConnectionRow> {
  const row = await rowOf(ctx.db, { accountId, agentId })
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'No mailbox is connected to this agent.' })
  return row
}

function presentConnection(row: ConnectionRow): Static<(typeof readMailboxConnection)['success']['schema']> {
  const { host, port, security, username } = row.smtp
  return {
    address: row.address,
    fromName: row.from_name,
    mode: row.mode,
    plusAddressing: row.plus_addressing,
    smtp: {
      host,
      port,
      security,
      username,
      hasPassword: row.smtp_password !== null,
      lastError: row.smtp_error,
      lastCheckedAt: row.smtp_checked_at?.toISOString() ?? null,
    },
    imap: row.imap && {
      ...row.imap,
      hasPassword: row.imap_password !== null,
      lastError: row.imap_error,
      lastCheckedAt: row.imap_checked_at?.toISOString() ?? null,
    },
    oauth: row.oauth && {
      tokenUrl: row.oauth.tokenUrl,
      clientId: row.oauth.clientId,
      scope: row.oauth.scope,
      authorizationUrl: row.oauth.authorizationUrl ?? null,
      isOperators: row.oauth.operatorsAt !== undefined,
      hasClientSecret: row.oauth_client_secret !== null,
      hasRefreshToken: row.oauth_refresh_token !== null,
    },
    hasInboundSecret: row.inbound_secret !== null,
    authority: row.authority,
    keepsSent: row.keeps_sent,
    sentError: row.sent_error,
    status: statusOf(Object.values(usesOf(row)).filter((use) => use !== null)),
  }
}
