import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { type ConversationRow, requireConversation } from '../conversations/queries.ts'
import { WIDGET } from '../conversations/sources.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../http/errors.ts'
import { findPublicAgent } from './public-agent.ts'

/** Who writes to which agent. `id` stands as the user id of the visitor's conversations and says nothing of the secret. */
export type Visit = { agent: AgentRow; visitorId: string }

const SECRET = /^Bearer ([\w-]{43})$/

/** Throws AGENT_NOT_FOUND, AUTH_MISSING_API_KEY, AUTH_INVALID_API_KEY. */
export async function requireVisit(
  { db }: Pick<Context, 'db'>,
  agentId: string,
  { headers: { authorization } }: Pick<FastifyRequest, 'headers'>,
): Promise<Visit> {
  return { agent: await requirePublicAgent(db, agentId), visitorId: visitorIdOf(authorization) }
}

export async function requirePublicAgent(db: Db, agentId: string): Promise<AgentRow> {
  const agent = await findPublicAgent(db, agentId)
  if (!agent) throw new ApiError('AGENT_NOT_FOUND', { message: 'There is no public agent with this id.' })
  return agent
}

function visitorIdOf(authorization: string | undefined): string {
  const secret = SECRET.exec(authorization ?? '')?.[1]
  if (secret) return `visitor-${createHash('sha256').update(secret).digest('base64url')}`
  const message =
    'Send "Authorization: Bearer <secret>" with the 43 characters (base64url) that the visitor keeps.'
  throw new ApiError(authorization === undefined ? 'AUTH_MISSING_API_KEY' : 'AUTH_INVALID_API_KEY', {
    message,
  })
}

/** A conversation that this visitor began here; another one is RESOURCE_NOT_FOUND. */
export async function requireOwnConversation(
  db: Db,
  { agent, visitorId }: Visit,
  conversationId: string,
  lock = false,
): Promise<ConversationRow> {
  const row = await requireConversation(db, agent.account_id, agent.id, conversationId, lock)
  if (row.source === WIDGET && row.user_id === visitorId) return row
  throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The conversation does not exist.' })
}
