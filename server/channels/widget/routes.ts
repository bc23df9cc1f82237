import type { FastifyRequest } from 'fastify'
import type { AgentRow } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { attachmentOf } from '../../conversations/attachments/uploads.ts'
import { rateMessage } from '../../conversations/records/change-message.ts'
import { storeToolResult, type TakeResult } from '../../conversations/records/store-tool-result.ts'
import { attach, positionAfter } from '../../conversations/stream/generation-log.ts'
import { sendStream } from '../../conversations/stream/send-stream.ts'
import { stopGeneration } from '../../conversations/turn/generations.ts'
import type { TurnNeeds } from '../../conversations/turn/turn.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { addressBucket } from '../../platform/http/limits/rate-limit.ts'
import { type Route, route, SENT } from '../../platform/http/route.ts'
import { answerConversation } from '../replies/answer-conversation.ts'
import {
  askForPerson as askForPersonEndpoint,
  followAnswer,
  followConversation as followConversationEndpoint,
  identifyVisitor as identifyVisitorEndpoint,
  leaveDetails,
  listVisitorConversations,
  rateAnswer,
  readAppearance,
  readVisitorConversation,
  stopAnswer,
  submitPageResult,
  uploadVisitorFile,
  writeMessage,
} from './contract.ts'
import { identifyVisitor } from './identity/identify-visitor.ts'
import { appearanceOf } from './page/appearance.ts'
import { askForPerson } from './talk/ask-for-person.ts'
import { continueAnswer } from './talk/continue-answer.ts'
import { createConversationFeed } from './talk/conversation-feed.ts'
import { followConversation } from './talk/follow-conversation.ts'
import { conversationsOfVisitor } from './talk/queries.ts'
import { readConversation } from './talk/read-conversation.ts'
import { findWritten, storeMessage } from './talk/store-message.ts'
import { storeUpload } from './talk/store-upload.ts'
import { VISIBLE_EVENTS, visibleSummary } from './talk/visible.ts'
import { admitVisitor, countIdentity, refuseCountry } from './visitors/admit-visitor.ts'
import { countryReader } from './visitors/country.ts'
import { countStreams } from './visitors/open-streams.ts'
import { storeDetails } from './visitors/store-details.ts'
import { browserOf, requireOwnConversation, requireVisit } from './visitors/visitor.ts'

export function widgetRoutes(
  ctx: TurnNeeds & Pick<Context, 'filesDir' | 'followers' | 'jobs' | 'limiter' | 'notifier' | 'stopping'>,
): Route[] {
  const countryOf = countryReader(ctx.config)
  const admit = (agent: AgentRow, request: FastifyRequest) => admitVisitor(ctx, agent, request, countryOf)
  return [
    ...ownConversationRoutes(ctx),
    route(readAppearance, async ({ agent }) => appearanceOf(ctx.db, agent)),

    route(identifyVisitorEndpoint, async ({ agent, body, request }) => {
      const { browserId } = browserOf(request)
      refuseCountry(agent, request, countryOf)
      await countIdentity(ctx, agent, request)
      return { data: { userId: await identifyVisitor(ctx, agent, browserId, body.token) } }
    }),

    route(writeMessage, async ({ agent, body, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      const there = await findWritten(ctx.db, visit, body)
      const admitted = () => admit(visit.agent, request)
      const { id } = there ?? (await storeMessage(ctx, visit, { ...body, country: await admitted() }))
      // This runs here and not in a job, because the visitor is waiting for the first word.
      const answering = await answerConversation(ctx, { conversationId: id }, there ? admitted : null)
      return { data: { conversationId: id, messageId: body.messageId, answering } }
    }),

    route(
      uploadVisitorFile,
      { check: ({ form }) => attachmentOf(form, uploadVisitorFile.multipart.file) },
      async ({ agent, checked: file, request }) => {
        const visit = await requireVisit(ctx, agent, request)
        refuseCountry(visit.agent, request, countryOf)
        return { data: await storeUpload(ctx, visit, file, request) }
      },
    ),

    route(submitPageResult, async ({ ref, agent, params, body, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      const conversation = await requireOwnConversation(ctx.db, visit, params.conversationId)
      // A request that is not admitted stores no result either; the page sends it again later.
      const admitted: TakeResult = (work) =>
        transact(ctx.db, async (trx) => {
          await work(trx)
          await admit(visit.agent, request)
        })
      await storeToolResult(ctx, ref, body, admitted)
      return { data: { answering: await continueAnswer(ctx, visit.agent, conversation) } }
    }),

    route(askForPersonEndpoint, async ({ agent, body, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      const country = await admit(visit.agent, request)
      return { data: { conversationId: await askForPerson(ctx, visit, { ...body, country }) } }
    }),

    route(leaveDetails, async ({ agent, body, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      await admit(visit.agent, request)
      await storeDetails(ctx.db, visit, body)
      return { success: true as const }
    }),
  ]
}

/** What visitors do with their own conversations. */
function ownConversationRoutes(
  ctx: Pick<
    Context,
    'config' | 'db' | 'followers' | 'generations' | 'log' | 'notifier' | 'orphans' | 'secrets' | 'stopping'
  >,
): Route[] {
  const admitStream = countStreams()
  const admitFollower = countStreams()
  const feed = createConversationFeed(ctx)
  return [
    route(listVisitorConversations, async ({ agent, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      return { data: (await conversationsOfVisitor(ctx.db, visit)).map(visibleSummary) }
    }),

    route(readVisitorConversation, async ({ agent, params, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      return { data: await readConversation(ctx, visit, params.conversationId) }
    }),

    route(followAnswer, async ({ agent, params, request, reply }) => {
      const visit = await requireVisit(ctx, agent, request)
      const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
      const attached = await attach(ctx, visit.agent.account_id, id)
      if (!attached) return undefined
      admitStream(addressBucket(request.ip), reply)
      const lastEventId = request.headers['last-event-id']?.toString()
      sendStream(reply, attached.source, positionAfter(lastEventId, attached), VISIBLE_EVENTS)
      return SENT
    }),

    route(followConversationEndpoint, async ({ agent, params, request, reply }) => {
      const visit = await requireVisit(ctx, agent, request)
      const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
      admitFollower(addressBucket(request.ip), reply)
      followConversation(ctx, feed, { agentId: visit.agent.id, conversationId: id }, reply)
      return SENT
    }),

    route(stopAnswer, async ({ agent, params, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      const { id } = await requireOwnConversation(ctx.db, visit, params.conversationId)
      return { data: { stopped: await stopGeneration(ctx, visit.agent.account_id, id) } }
    }),

    route(rateAnswer, async ({ agent, params, body, request }) => {
      const visit = await requireVisit(ctx, agent, request)
      await requireOwnConversation(ctx.db, visit, params.conversationId)
      await rateMessage(ctx.db, visit.agent.account_id, params, body.feedback)
      return { success: true as const }
    }),
  ]
}
