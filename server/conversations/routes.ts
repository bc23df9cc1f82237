import type { FastifyReply } from 'fastify'
import { type AgentRow, requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import type { AccountId } from '../db/tables.ts'
import { readDateRange } from '../http/dates.ts'
import {
  byActivity,
  byCreation,
  decodeCursor,
  encodeCursor,
  fingerprint,
  pageOf,
} from '../http/pagination.ts'
import { type Caller, type Replay, type Route, route, SENT } from '../http/route.ts'
import { presentSource } from '../knowledge/present.ts'
import { attach, positionAfter } from './attach.ts'
import { chatAgentOf, startChat } from './chat.ts'
import {
  chat,
  correctAnswer as correctAnswerEndpoint,
  listConversations,
  listMessages,
  listUserConversations,
  rateMessage as rateMessageEndpoint,
  readConversation,
  reattach,
  retry,
  stop,
  submitToolResult,
  updateConversation,
} from './contract.ts'
import { correctAnswer } from './correct-answer.ts'
import type { LiveGeneration } from './live-generation.ts'
import { pauseConversation } from './pause-conversation.ts'
import { presentConversation, presentMessage } from './present.ts'
import {
  type ConversationRow,
  conversationsByCreation,
  conversationsOfUser,
  messagesBackwards,
  requireApiConversation,
  requireConversation,
} from './queries.ts'
import { rateMessage } from './rate-message.ts'
import { replayAnswer, replayStream } from './replay.ts'
import { sendStream } from './send-stream.ts'
import { stopGeneration } from './stop-generation.ts'
import { storeToolResult } from './store-tool-result.ts'

const RECENT_MESSAGES = 20

export const conversationRoutes = (ctx: Context): Route[] => [
  route(chat, async ({ caller: { account }, params, body, reply, idempotency, replay }) => {
    const agent = await requireAgent(ctx.db, account.id, params.agentId)
    const { stream, ...asked } = body
    if (replay) return sendReplay(ctx, reply, account.id, replay, stream)
    const live = await startChat(ctx, {
      ...asked,
      ...apiRequest(account, agent),
      idempotencyKey: idempotency?.key ?? null,
    })
    return sendReply(reply, live, stream)
  }),

  route(retry, async ({ caller: { account }, params, body, reply, idempotency, replay }) => {
    const agent = await requireAgent(ctx.db, account.id, params.agentId)
    if (replay) return sendReplay(ctx, reply, account.id, replay, body.stream)
    const live = await startChat(ctx, {
      conversationId: params.conversationId,
      retryOf: body.messageId,
      ...apiRequest(account, agent),
      idempotencyKey: idempotency?.key ?? null,
    })
    return sendReply(reply, live, body.stream)
  }),

  route(reattach, async ({ caller: { account }, params, request, reply }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { id } = await requireApiConversation(ctx.db, account.id, params.agentId, params.conversationId)
    const attached = await attach(ctx, account.id, id)
    if (!attached) return undefined
    const lastEventId = request.headers['last-event-id']?.toString()
    sendStream(reply, attached.source, positionAfter(lastEventId, attached))
    return SENT
  }),

  route(stop, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { id } = await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    return { data: { stopped: await stopGeneration(ctx, account.id, id) } }
  }),

  route(submitToolResult, async ({ caller: { account }, params, body }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await storeToolResult(ctx, { accountId: account.id, ...params, source: 'API' }, body)
    return { data: { success: true as const } }
  }),

  route(updateConversation, async ({ caller: { account }, params, body }) => {
    const { agentId, conversationId } = params
    await requireAgent(ctx.db, account.id, agentId)
    const status = await pauseConversation(ctx.db, account.id, agentId, conversationId, body.paused)
    return { data: { id: conversationId, status } }
  }),

  route(rateMessageEndpoint, async ({ caller: { account }, params, body }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    return { data: presentMessage(await rateMessage(ctx.db, account.id, params, body.feedback)) }
  }),

  route(correctAnswerEndpoint, async ({ caller: { account }, params, body }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    return presentSource(await correctAnswer(ctx, account, params, body))
  }),

  route(listConversations, async ({ caller: { account }, params, query }) => {
    const filter = { agentId: params.agentId, ...readDateRange(query) }
    await requireAgent(ctx.db, account.id, params.agentId)
    const print = fingerprint('conversations', filter)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await conversationsByCreation(ctx.db, account.id, filter, {
      limit: query.limit,
      position,
    })
    return pageOf(rows, query.limit, total, print, byCreation, presentConversation)
  }),

  route(listUserConversations, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const filter = { agentId: params.agentId, userId: params.userId }
    const print = fingerprint('user-conversations', filter)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await conversationsOfUser(ctx.db, account.id, filter, {
      limit: query.limit,
      position,
    })
    return pageOf(rows, query.limit, total, print, byActivity, presentConversation)
  }),

  route(readConversation, async ({ caller: { account }, params }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const conversation = await requireApiConversation(
      ctx.db,
      account.id,
      params.agentId,
      params.conversationId,
    )
    const page = await pageOfMessages(ctx, account.id, conversation, RECENT_MESSAGES, undefined)
    return {
      data: { ...presentConversation(conversation), messages: page.data },
      pagination: page.pagination,
    }
  }),

  route(listMessages, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { agentId, conversationId } = params
    const conversation = await requireApiConversation(ctx.db, account.id, agentId, conversationId)
    return pageOfMessages(ctx, account.id, conversation, query.limit, query.cursor)
  }),
]

/** Who answers, and as what, when the API asks. */
const apiRequest = (account: Caller['account'], agent: AgentRow) => ({
  account,
  agent: chatAgentOf(agent),
  source: 'API',
  channel: 'api',
})

async function sendReply(reply: FastifyReply, live: LiveGeneration, stream: boolean) {
  await live.started
  if (!stream) return { data: await live.answer }
  sendStream(reply, live)
  return SENT
}

async function sendReplay(
  ctx: Context,
  reply: FastifyReply,
  accountId: AccountId,
  { generationId }: Replay,
  stream: boolean,
) {
  if (!stream) return { data: await replayAnswer(ctx, accountId, generationId) }
  sendStream(reply, await replayStream(ctx, accountId, generationId))
  return SENT
}

/** Messages back from the newest (or the cursor), oldest first inside the page. */
async function pageOfMessages(
  { db }: Context,
  accountId: ConversationRow['account_id'],
  { id: conversationId, last_seq, cut_messages }: ConversationRow,
  limit: number,
  cursor: string | undefined,
) {
  const print = fingerprint('messages', conversationId)
  const position = decodeCursor(cursor, print, (value) => /^\d{1,9}$/.test(value))
  const beforeSeq = position ? Number(position.value) : null
  const rows = await messagesBackwards(db, accountId, conversationId, { limit, beforeSeq })
  const kept = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const oldest = kept.at(-1)
  return {
    data: kept.reverse().map(presentMessage),
    pagination: {
      cursor: hasMore && oldest ? encodeCursor({ value: String(oldest.seq), id: oldest.id }, print) : null,
      hasMore,
      total: last_seq - cut_messages,
    },
  }
}
