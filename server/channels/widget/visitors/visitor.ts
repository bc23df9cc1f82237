import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../../../agents/records/find-agent.ts'
import type { Context } from '../../../context.ts'
import { type ConversationRow, requireConversation, WIDGET } from '../../../conversations/records/queries.ts'
import type { Db } from '../../../platform/db/database.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { signedIn } from '../identity/identify-visitor.ts'
import { findPublicAgent } from '../page/public-agent.ts'
import { localeOf } from './locale.ts'

/**
 * A visitor and the agent they talk to. `visitorId` is the user id of the visitor's conversations: either the
 * browser's, from which its secret cannot be derived, or the site's for a visitor whom it has signed in.
 */
export type Visit = {
  agent: AgentRow
  visitorId: string
  browserId: string
  /** Set for a visitor whom the site has signed in. */
  contactId: string | null
  /** The language and region that the browser asks for. */
  locale: string | null
}

const SECRET = /^Bearer (signed\.)?([\w-]{43})$/

/** Throws AUTH_MISSING_API_KEY, AUTH_INVALID_API_KEY, VISITOR_IDENTITY_INVALID. */
export async function requireVisit(
  { db }: Pick<Context, 'db'>,
  agent: AgentRow,
  request: Pick<FastifyRequest, 'headers'>,
): Promise<Visit> {
  const { browserId, isSigned } = browserOf(request)
  const locale = localeOf(request.headers['accept-language'])
  if (!isSigned) return { agent, visitorId: browserId, browserId, contactId: null, locale }
  const known = await signedIn(db, agent, browserId)
  if (!known) throw new ApiError('VISITOR_IDENTITY_INVALID')
  return { agent, visitorId: known.userId, browserId, contactId: known.contactId, locale }
}

export async function requirePublicAgent(db: Db, agentId: string): Promise<AgentRow> {
  const agent = await findPublicAgent(db, agentId)
  if (!agent) throw new ApiError('AGENT_NOT_FOUND', { message: 'There is no public agent with this id.' })
  return agent
}

/** Identifies the browser. Throws AUTH_MISSING_API_KEY and AUTH_INVALID_API_KEY. */
export function browserOf({ headers: { authorization } }: Pick<FastifyRequest, 'headers'>): {
  browserId: string
  isSigned: boolean
} {
  const [, signed, secret] = SECRET.exec(authorization ?? '') ?? []
  if (secret) {
    const browserId = `visitor-${createHash('sha256').update(secret).digest('base64url')}`
    return { browserId, isSigned: signed !== undefined }
  }
  const message =
    'Send "Authorization: Bearer <secret>" with the 43 characters (base64url) that the visitor keeps.'
  throw new ApiError(authorization === undefined ? 'AUTH_MISSING_API_KEY' : 'AUTH_INVALID_API_KEY', {
    message,
  })
}

/** Returns the conversation if this visitor started it here; otherwise throws RESOURCE_NOT_FOUND. */
export async function requireOwnConversation(
  db: Db,
  { agent, visitorId }: Visit,
  conversationId: string,
  lock = false,
): Promise<ConversationRow> {
  const row = await requireConversation(
    db,
    { accountId: agent.account_id, agentId: agent.id, conversationId },
    lock,
  )
  if (row.source === WIDGET && row.user_id === visitorId) return row
  throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })
}
