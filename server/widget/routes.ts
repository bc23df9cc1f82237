import { storeLead } from '../actions/collect-lead.ts'
import { answerConversation } from '../channels/answer-conversation.ts'
import type { Context } from '../context.ts'
import { attach, positionAfter, runningGeneration } from '../conversations/attach.ts'
import { messagesBackwards, requireConversation } from '../conversations/queries.ts'
import { rateMessage } from '../conversations/rate-message.ts'
import { sendStream } from '../conversations/send-stream.ts'
import { WIDGET } from '../conversations/sources.ts'
import { stopGeneration } from '../conversations/stop-generation.ts'
import { storeToolResult } from '../conversations/store-tool-result.ts'
import { newId } from '../db/ids.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route, SENT } from '../http/route.ts'
import { admitVisitor } from './admit-visitor.ts'
import { appearanceOf, takesDetails } from './appearance.ts'
import { continueAnswer } from './continue-answer.ts'
import {
  followAnswer,
  leaveDetails,
  listVisitorConversations,
  rateAnswer,
  readAppearance,
  readVisitorConversation,
  stopAnswer,
  submitPageResult,
  writeMessage,
} from './contract.ts'
import { conversationsOfVisitor, pendingCalls } from './queries.ts'
import { storeMessage } from './store-message.ts'
import { visibleFrames, visibleMessage, visibleSummary } from './visible.ts'
import { requireOwnConversation, requirePublicAgent, requireVisit } from './visitor.ts'

const NEWEST_MESSAGES = 100

export const widgetRoutes = (ctx: Context): Route[] => [
  route(readAppearance, async ({ params }) =>
    appearanceOf(ctx.db, await requirePublicAgent(ctx.db, params.agentId)),
  ),

  route(writeMessage, async ({ params, body, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const country = await admitVisitor(ctx, visit.agent, request)
    const { id } = await storeMessage(ctx, visit, { ...body, country })
    // Here and not by a job: the visitor waits for the first word.
    await answerConversation(ctx, { conversationId: id })
    const { status } = await requireConversation(ctx.db, visit.agent.account_id, visit.agent.id, id)
    return {
      data: { conversationId: id, messageId: body.messageId, answering: status === 'ongoing' },
    }
  }),

  route(listVisitorConversations, async ({ params, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    return { data: (await conversationsOfVisitor(ctx.db, visit)).map(visibleSummary) }
  }),

  route(readVisitorConversation, async ({ params, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const accountId = visit.agent.account_id
    const row = await requireOwnConversation(ctx.db, visit, params.conversationId)
    // Before the messages: an answer that ends meanwhile is then told as still coming, not as missing.
    const running = await runningGeneration(ctx.db, accountId, row.id)
    const page = { limit: NEWEST_MESSAGES - 1, beforeSeq: null }
    const [messages, pending] = await Promise.all([
      messagesBackwards(ctx.db, accountId, row.id, page),
      pendingCalls(ctx.db, accountId, row.id),
    ])
    return {
      data: {
        ...visibleSummary(row),
        answering: running !== undefined,
        messages: messages.reverse().map((message) => visibleMessage(message, pending)),
      },
    }
  }),

  route(followAnswer, async ({ params, request, reply }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
    const attached = await attach(ctx, visit.agent.account_id, id)
    if (!attached) return undefined
    const lastEventId = request.headers['last-event-id']?.toString()
    sendStream(reply, visibleFrames(attached.source), positionAfter(lastEventId, attached))
    return SENT
  }),

  route(stopAnswer, async ({ params, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
    return { data: { stopped: await stopGeneration(ctx, visit.agent.account_id, id) } }
  }),

  route(submitPageResult, async ({ params, body, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const conversation = await requireOwnConversation(ctx.db, visit, params.conversationId)
    const place = { accountId: visit.agent.account_id, ...params, source: WIDGET }
    await storeToolResult(ctx.db, place, body)
    return { data: { answering: await continueAnswer(ctx, visit.agent, conversation) } }
  }),

  route(rateAnswer, async ({ params, body, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    await requireOwnConversation(ctx.db, visit, params.conversationId)
    await rateMessage(ctx.db, visit.agent.account_id, params, body.feedback)
    return { success: true as const }
  }),

  route(leaveDetails, async ({ params, body, request }) => {
    const visit = await requireVisit(ctx, params.agentId, request)
    const { conversationId, ...details } = body
    await admitVisitor(ctx, visit.agent, request)
    if (!(await takesDetails(ctx.db, visit.agent)))
      throw new ApiError('RESOURCE_NOT_FOUND', { message: 'This agent takes no contact details.' })
    const conversation =
      conversationId === undefined ? null : await requireOwnConversation(ctx.db, visit, conversationId)
    await storeLead(ctx.db, details, {
      id: newId(),
      accountId: visit.agent.account_id,
      agentId: visit.agent.id,
      conversationId: conversation?.id ?? null,
    })
    return { success: true as const }
  }),
]
