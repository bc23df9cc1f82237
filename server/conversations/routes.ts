import { type AgentRow, requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { readDateRange } from '../http/input/dates.ts'
import {
  byActivity,
  byCreation,
  decodeCursor,
  encodeCursor,
  fingerprint,
  pageOf,
} from '../http/pagination.ts'
import { type Caller, type Route, route, SENT } from '../http/route.ts'
import { presentSource } from '../knowledge/sources/present.ts'
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
import { playgroundRoutes } from './playground/routes.ts'
import { correctAnswer } from './records/correct-answer.ts'
import { pauseConversation } from './records/pause-conversation.ts'
import { presentConversation, presentMessage } from './records/present.ts'
import {
  type ConversationRow,
  conversationsByCreation,
  conversationsOfUser,
  messagesBackwards,
  requireApiConversation,
  requireConversation,
} from './records/queries.ts'
import { rateMessage } from './records/rate-message.ts'
import { addressesOf } from './records/source-address.ts'
import { storeToolResult, type TakeResult } from './records/store-tool-result.ts'
import { runRoutes } from './runs/run-routes.ts'
import { attach, positionAfter } from './stream/attach.ts'
import { sendReply, wireFor } from './stream/send-reply.ts'
import { sendStream } from './stream/send-stream.ts'
import { readAgain } from './turn/replay.ts'
import { startChat } from './turn/start-chat.ts'
import { stopGeneration } from './turn/stop-generation.ts'
import { askOf, chatAgentOf } from './turn/turn.ts'

const RECENT_MESSAGES = 20

export const conversationRoutes = (ctx: Context): Route[] => [
  route(
    chat,
    async ({ caller: { account }, params, body, reply, idempotency, replay }) => {
      const agent = await requireAgent(ctx.db, account.id, params.agentId)
      const { stream, includeServerActions, message, ...asked } = body
      const request = { ...apiRequest(account, agent), ask: askOf(message), idempotency }
      const reading = replay
        ? await readAgain(ctx, replay, request)
        : await startChat(ctx, { ...asked, ...request })
      return sendReply(reply, reading, { stream, includeServerActions })
    },
    'effect',
  ),

  route(
    retry,
    async ({ caller: { account }, params, body, reply, idempotency, replay }) => {
      const agent = await requireAgent(ctx.db, account.id, params.agentId)
      const request = {
        ...apiRequest(account, agent),
        ask: { kind: 'retry' as const, messageId: body.messageId },
        idempotency,
      }
      const reading = replay
        ? await readAgain(ctx, replay, request)
        : await startChat(ctx, { conversationId: params.conversationId, ...request })
      return sendReply(reply, reading, body)
    },
    'effect',
  ),

  route(reattach, async ({ caller: { account }, params, query, request, reply }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { id } = await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    const attached = await attach(ctx, account.id, id)
    if (!attached) return undefined
    const lastEventId = request.headers['last-event-id']?.toString()
    const wire = wireFor(query.includeServerActions)
    sendStream(reply, attached.source, positionAfter(lastEventId, attached), wire)
    return SENT
  }),

  route(
    stop,
    async ({ caller: { account }, params }) => {
      await requireAgent(ctx.db, account.id, params.agentId)
      const { id } = await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
      return { data: { stopped: await stopGeneration(ctx, account.id, id) } }
    },
    'answer',
  ),

  route(
    submitToolResult,
    async ({ caller: { account }, params, body, once }) => {
      await requireAgent(ctx.db, account.id, params.agentId)
      const answer = { data: { success: true as const } }
      const take: TakeResult = (work) =>
        once(async (db) => {
          await work(db)
          return answer
        })
      await storeToolResult(ctx, { accountId: account.id, ...params }, body, take)
      return answer
    },
    'effect',
  ),

  route(updateConversation, async ({ caller: { account }, params, body }) => {
    const { agentId, conversationId } = params
    await requireAgent(ctx.db, account.id, agentId)
    const status = await pauseConversation(ctx.db, account.id, agentId, conversationId, body.paused)
    return { data: { id: conversationId, status } }
  }),

  route(rateMessageEndpoint, async ({ caller: { account }, params, body }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    await requireConversation(ctx.db, account.id, params.agentId, params.conversationId)
    return {
      data: presentMessage(await rateMessage(ctx.db, account.id, params, body.feedback), addressesOf(ctx)),
    }
  }),

  route(correctAnswerEndpoint, async ({ db, caller: { account }, params, body }) => {
    await requireAgent(db, account.id, params.agentId)
    return presentSource(await correctAnswer({ ...ctx, db }, account, params, body))
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

  route(readConversation, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const conversation = await requireApiConversation(
      ctx.db,
      account.id,
      params.agentId,
      params.conversationId,
    )
    const page = await pageOfMessages(ctx, account.id, conversation, { limit: RECENT_MESSAGES, ...query })
    return {
      data: { ...presentConversation(conversation), messages: page.data },
      pagination: page.pagination,
    }
  }),

  route(listMessages, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { agentId, conversationId } = params
    const conversation = await requireApiConversation(ctx.db, account.id, agentId, conversationId)
    return pageOfMessages(ctx, account.id, conversation, query)
  }),

  ...playgroundRoutes(ctx),
  ...runRoutes(ctx),
]

/** Returns the common part of a chat request through the API. */
const apiRequest = (account: Caller['account'], agent: AgentRow) => ({
  account,
  agent: chatAgentOf(agent),
  source: 'API',
  channel: 'api',
})

/** Returns a page of messages that ends with the newest one (or before the cursor), oldest first within the page. */
async function pageOfMessages(
  ctx: Context,
  accountId: ConversationRow['account_id'],
  { id: conversationId, last_seq, cut_messages }: ConversationRow,
  { limit, cursor, includeServerActions }: { limit: number; cursor?: string; includeServerActions: boolean },
) {
  const print = fingerprint('messages', conversationId)
  const position = decodeCursor(cursor, print, (value) => /^\d{1,9}$/.test(value))
  const beforeSeq = position ? Number(position.value) : null
  const rows = await messagesBackwards(ctx.db, accountId, conversationId, { limit, beforeSeq })
  const kept = rows.slice(0, limit)
  const hasMore = rows.length > limit
  const oldest = kept.at(-1)
  return {
    data: kept.reverse().map((row) => presentMessage(row, addressesOf(ctx), includeServerActions)),
    pagination: {
      cursor: hasMore && oldest ? encodeCursor({ value: String(oldest.seq), id: oldest.id }, print) : null,
      hasMore,
      total: last_seq - cut_messages,
    },
  }
}
