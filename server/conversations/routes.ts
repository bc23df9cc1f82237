import { requireAgent } from '../agents/find-agent.ts'
import type { Context } from '../context.ts'
import { readDateRange } from '../http/dates.ts'
import { decodeCursor, encodeCursor, fingerprint, pageOf } from '../http/pagination.ts'
import { type Route, route, SENT } from '../http/route.ts'
import { startChat } from './chat.ts'
import { chat, listConversations, listMessages, listUserConversations, readConversation } from './contract.ts'
import { presentConversation, presentMessage } from './present.ts'
import {
  type ConversationRow,
  conversationsByCreation,
  conversationsOfUser,
  countMessages,
  messagesBackwards,
  requireApiConversation,
} from './queries.ts'
import { sendStream } from './send-stream.ts'

const RECENT_MESSAGES = 20

export const conversationRoutes = (ctx: Context): Route[] => [
  route(chat, async ({ caller: { account }, params, body, reply }) => {
    const agent = await requireAgent(ctx.db, account.id, params.agentId)
    const { message, conversationId, userId } = body
    const live = await startChat(ctx, {
      account,
      agent: {
        id: agent.id,
        instructions: agent.instructions,
        channelInstructions: agent.channel_instructions,
        model: agent.model,
        temp: agent.temp,
        creditLimit: agent.credit_limit,
        knowledgeVersion: agent.knowledge_version,
      },
      source: 'API',
      channel: 'api',
      message,
      conversationId,
      userId,
    })
    await live.started
    if (!body.stream) return { data: await live.answer }
    sendStream(reply, live)
    return SENT
  }),

  route(listConversations, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const filter = { agentId: params.agentId, ...readDateRange(query) }
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
    const page = await pageOfMessages(ctx, account.id, conversation.id, RECENT_MESSAGES, undefined)
    return {
      data: { ...presentConversation(conversation), messages: page.data },
      pagination: page.pagination,
    }
  }),

  route(listMessages, async ({ caller: { account }, params, query }) => {
    await requireAgent(ctx.db, account.id, params.agentId)
    const { id } = await requireApiConversation(ctx.db, account.id, params.agentId, params.conversationId)
    return pageOfMessages(ctx, account.id, id, query.limit, query.cursor)
  }),
]

const byCreation = (row: ConversationRow) => ({ value: row.created_at.toISOString(), id: row.id })
const byActivity = (row: ConversationRow) => ({ value: row.updated_at.toISOString(), id: row.id })

/** Messages back from the newest (or the cursor), oldest first inside the page. */
async function pageOfMessages(
  { db }: Context,
  accountId: ConversationRow['account_id'],
  conversationId: string,
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
  const total = await countMessages(db, accountId, conversationId)
  return {
    data: kept.reverse().map(presentMessage),
    pagination: {
      cursor: hasMore && oldest ? encodeCursor({ value: String(oldest.seq), id: oldest.id }, print) : null,
      hasMore,
      total,
    },
  }
}
