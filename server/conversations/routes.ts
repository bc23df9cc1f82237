import type { AgentRow } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import { presentSource } from '../knowledge/sources/present.ts'
import { readDateRange } from '../platform/http/input/dates.ts'
import {
  byActivity,
  byCreation,
  decodeCursor,
  encodeCursor,
  fingerprint,
  type PageRequest,
  readPage,
} from '../platform/http/pagination.ts'
import { type Caller, type Route, route, SENT } from '../platform/http/route.ts'
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
import { rateMessage } from './records/change-message.ts'
import { conversationsByCreation, conversationsOfUser } from './records/conversation-lists.ts'
import { correctAnswer } from './records/correct-answer.ts'
import { presentConversation, presentMessage } from './records/present.ts'
import {
  type ConversationRow,
  messagesBackwards,
  requireApiConversation,
  requireConversation,
} from './records/queries.ts'
import { pauseConversation } from './records/set-status.ts'
import { addressesOf } from './records/source-address.ts'
import { storeToolResult, type TakeResult } from './records/store-tool-result.ts'
import { runRoutes } from './runs/run-routes.ts'
import { attach, positionAfter } from './stream/generation-log.ts'
import { sendReply, sendStream, wireFor } from './stream/send-stream.ts'
import { stopGeneration } from './turn/generations.ts'
import { askOf, chatAgentOf, readAgain, startChat } from './turn/start.ts'
import type { TurnNeeds } from './turn/turn.ts'

const RECENT_MESSAGES = 20

export const conversationRoutes = (
  ctx: TurnNeeds & Pick<Context, 'filesDir' | 'followers' | 'jobs' | 'limiter' | 'notifier'>,
): Route[] => [
  route(
    chat,
    { idempotencyMode: 'manual' },
    async ({ agent, caller: { account }, body, reply, idempotency, replay }) => {
      const { stream, includeServerActions, message, ...asked } = body
      const request = { ...apiRequest(account, agent), ask: askOf(message), idempotency }
      const reading = replay
        ? await readAgain(ctx, replay, request)
        : await startChat(ctx, { ...asked, ...request })
      return sendReply(reply, reading, { stream, includeServerActions })
    },
  ),

  route(
    retry,
    { idempotencyMode: 'manual' },
    async ({ agent, caller: { account }, params, body, reply, idempotency, replay }) => {
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
  ),

  route(reattach, async ({ ref, caller: { account }, query, request, reply }) => {
    const { id } = await requireConversation(ctx.db, ref)
    const attached = await attach(ctx, account.id, id)
    if (!attached) return undefined
    const lastEventId = request.headers['last-event-id']?.toString()
    const wire = wireFor(query.includeServerActions)
    sendStream(reply, attached.source, positionAfter(lastEventId, attached), wire)
    return SENT
  }),

  route(stop, { idempotencyMode: 'response' }, async ({ ref, caller: { account } }) => {
    const { id } = await requireConversation(ctx.db, ref)
    return { data: { stopped: await stopGeneration(ctx, account.id, id) } }
  }),

  route(submitToolResult, { idempotencyMode: 'manual' }, async ({ ref, body, once }) => {
    const answer = { data: { success: true as const } }
    const take: TakeResult = (work) =>
      once(async (db) => {
        await work(db)
        return answer
      })
    await storeToolResult(ctx, ref, body, take)
    return answer
  }),

  ...recordRoutes(ctx),
  ...playgroundRoutes(ctx),
  ...runRoutes(ctx),
]

/** What is read and changed of stored conversations. */
const recordRoutes = (ctx: Pick<Context, 'config' | 'db' | 'filesDir' | 'jobs' | 'secrets'>): Route[] => [
  route(updateConversation, async ({ ref, body }) => {
    const status = await pauseConversation(ctx.db, ref, body.paused)
    return { data: { id: ref.conversationId, status } }
  }),

  route(rateMessageEndpoint, async ({ ref, caller: { account }, params, body }) => {
    await requireConversation(ctx.db, ref)
    return {
      data: presentMessage(await rateMessage(ctx.db, account.id, params, body.feedback), addressesOf(ctx)),
    }
  }),

  route(correctAnswerEndpoint, async ({ db, caller: { account }, params, body }) => {
    return presentSource(await correctAnswer({ ...ctx, db }, account, params, body))
  }),

  route(
    listConversations,
    { check: ({ query }) => readDateRange(query) },
    async ({ ref: { accountId, agentId }, checked, query }) => {
      const filter = { agentId, ...checked }
      const read = (page: PageRequest) => conversationsByCreation(ctx.db, accountId, filter, page)
      return readPage(query, ['conversations', filter], read, byCreation, presentConversation)
    },
  ),

  route(listUserConversations, async ({ caller: { account }, params, query }) => {
    const filter = { agentId: params.agentId, userId: params.userId }
    const read = (page: PageRequest) => conversationsOfUser(ctx.db, account.id, filter, page)
    return readPage(query, ['user-conversations', filter], read, byActivity, presentConversation)
  }),

  route(readConversation, async ({ ref, query }) => {
    const conversation = await requireApiConversation(ctx.db, ref)
    const page = await pageOfMessages(ctx, ref.accountId, conversation, { limit: RECENT_MESSAGES, ...query })
    return {
      data: { ...presentConversation(conversation), messages: page.data },
      pagination: page.pagination,
    }
  }),

  route(listMessages, async ({ ref, query }) => {
    const conversation = await requireApiConversation(ctx.db, ref)
    return pageOfMessages(ctx, ref.accountId, conversation, query)
  }),
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
  ctx: Pick<Context, 'config' | 'db' | 'secrets'>,
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
    data: kept.reverse().map((row) => presentMessage(row, addressesOf(ctx), { includeServerActions })),
    pagination: {
      cursor: hasMore && oldest ? encodeCursor({ value: String(oldest.seq), id: oldest.id }, print) : null,
      hasMore,
      total: last_seq - cut_messages,
    },
  }
}
