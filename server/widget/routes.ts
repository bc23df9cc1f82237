import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../agents/find-agent.ts'
import { answerConversation } from '../channels/answer-conversation.ts'
import type { Context } from '../context.ts'
import { attach, positionAfter } from '../conversations/attach.ts'
import { rateMessage } from '../conversations/rate-message.ts'
import { sendStream } from '../conversations/send-stream.ts'
import { WIDGET } from '../conversations/sources.ts'
import { stopGeneration } from '../conversations/stop-generation.ts'
import { storeToolResult } from '../conversations/store-tool-result.ts'
import { type Route, route, SENT } from '../http/route.ts'
import { addressBucket } from './address-bucket.ts'
import { admitVisitor } from './admit-visitor.ts'
import { appearanceOf } from './appearance.ts'
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
import { countryReader } from './country.ts'
import { countStreams } from './open-streams.ts'
import { conversationsOfVisitor } from './queries.ts'
import { readConversation } from './read-conversation.ts'
import { storeDetails } from './store-details.ts'
import { findWritten, storeMessage } from './store-message.ts'
import { visibleFrames, visibleSummary } from './visible.ts'
import { requireOwnConversation, requirePublicAgent, requireVisit } from './visitor.ts'

export function widgetRoutes(ctx: Context): Route[] {
  const countryOf = countryReader(ctx.config)
  const admitStream = countStreams()
  const admit = (agent: AgentRow, request: FastifyRequest) => admitVisitor(ctx, agent, request, countryOf)
  return [
    route(readAppearance, async ({ params }) =>
      appearanceOf(ctx.db, await requirePublicAgent(ctx.db, params.agentId)),
    ),

    route(writeMessage, async ({ params, body, request }) => {
      const visit = await requireVisit(ctx, params.agentId, request)
      const there = await findWritten(ctx.db, visit, body.messageId)
      const { id } =
        there ?? (await storeMessage(ctx, visit, { ...body, country: await admit(visit.agent, request) }))
      // Here and not by a job: the visitor waits for the first word. Sent again, it is asked again.
      const answering = await answerConversation(ctx, { conversationId: id }, { evenStopped: true })
      return { data: { conversationId: id, messageId: body.messageId, answering } }
    }),

    route(listVisitorConversations, async ({ params, request }) => {
      const visit = await requireVisit(ctx, params.agentId, request)
      return { data: (await conversationsOfVisitor(ctx.db, visit)).map(visibleSummary) }
    }),

    route(readVisitorConversation, async ({ params, request }) => {
      const visit = await requireVisit(ctx, params.agentId, request)
      return { data: await readConversation(ctx.db, visit, params.conversationId) }
    }),

    route(followAnswer, async ({ params, request, reply }) => {
      const visit = await requireVisit(ctx, params.agentId, request)
      const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
      const attached = await attach(ctx, visit.agent.account_id, id)
      if (!attached) return undefined
      admitStream(addressBucket(request.ip), reply)
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
      await storeToolResult(ctx, place, body)
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
      await admit(visit.agent, request)
      await storeDetails(ctx.db, visit, body)
      return { success: true as const }
    }),
  ]
}
