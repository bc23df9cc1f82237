import { X509Certificate } from 'node:crypto'
import type { Static } from 'typebox'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { isPrivateHostAllowed, parsePrivateHosts } from '../../platform/fetch/guard/private-hosts.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { statusOf } from '../registry/connection-status.ts'
import {
  type ConnectionRow,
  deleteConnection,
  putConnection,
  rowOf,
  usesOf,
} from './connection/connection.ts'
import { tryServers } from './connection/try-servers.ts'
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
  ctx: Pick<Context, 'config' | 'db' | 'fetcher' | 'jobs' | 'notifier' | 'secrets'>,
): Route[] => [
  route(
    connectMailbox,
    {
      check: ({ body }) => {
        refuseAuthority(body.authority)
        refusePlainTokenUrl(body.oauth?.tokenUrl, ctx.config.allowedPrivateHosts)
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
    await deleteConnection(ctx.db, ref)
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

/** The address is sent the client secret and the refresh token, which nobody on the way may read. */
function refusePlainTokenUrl(tokenUrl: string | undefined, allowedPrivateHosts: readonly string[]): void {
  if (tokenUrl === undefined) return
  const url = URL.parse(tokenUrl)
  const isPrivate = url !== null && isPrivateHostAllowed(parsePrivateHosts(allowedPrivateHosts), url)
  if (url?.protocol !== 'https:' && !isPrivate)
    throw invalidField(
      'oauth.tokenUrl',
      'Must begin with https://. Only hosts that an operator lists in ALLOWED_PRIVATE_HOSTS may do without.',
    )
}

function refuseAuthority(authority: string | undefined): void {
  if (authority === undefined) return
  const certificates = authority.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    if (certificates.length === 0) throw new Error('There is none.')
    for (const one of certificates) new X509Certificate(one)
  } catch {
    throw new ApiError('VALIDATION_INVALID_BODY', {
      details: { authority: 'Must be certificates in PEM, each from BEGIN CERTIFICATE to END CERTIFICATE.' },
    })
  }
}

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
      ...row.oauth,
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
