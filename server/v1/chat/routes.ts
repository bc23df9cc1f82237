import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import { withModels } from '../../agents/settings/with-models.ts'
import type { Context } from '../../context.ts'
import { textOf } from '../../conversations/records/parts.ts'
import type { Answer, FrameSource, Reading } from '../../conversations/stream/reading.ts'
import { sendStream, whileWatching } from '../../conversations/stream/send-stream.ts'
import { readAgain } from '../../conversations/turn/start.ts'
import type { TurnNeeds } from '../../conversations/turn/turn.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { KeyTaken } from '../../platform/http/idempotency/idempotency.ts'
import { type Route, route, SENT } from '../../platform/http/route.ts'
import { linksTo, type MayLink, withoutForeignLinks } from '../../platform/text/safety/foreign-links.ts'
import { chat } from './contract.ts'
import { requestOf, startReply } from './start-reply.ts'
import { plainText, serverSentEvents, wireOf } from './text-stream.ts'

export const chatRoutes = (ctx: TurnNeeds & Pick<Context, 'followers' | 'orphans'>): Route[] => [
  route(
    withModels(chat, ctx.models.ids()),
    { idempotencyMode: 'manual' },
    async ({ caller: { account }, body, request, reply, idempotency, replay }) => {
      const agent = await requireAgent(ctx.db, { accountId: account.id, agentId: body.chatbotId })
      const mayLink = linksTo(await linkHostsOf(ctx.db, { accountId: account.id, agentId: agent.id }))
      const send = (source: FrameSource): typeof SENT => {
        const wantsEvents = request.headers.accept?.includes('text/event-stream')
        const format = wantsEvents ? serverSentEvents : plainText
        sendStream(reply, source, 0, wireOf(format, mayLink))
        return SENT
      }
      const asked = await requestOf(ctx, account, agent, body, idempotency)
      const respond = async (reading: Reading) => {
        await whileWatching(reading, reading.started)
        if (body.stream) return send(reading)
        return textOfAnswer(await whileWatching(reading, reading.answer), mayLink)
      }
      if (!replay) return respond(await startReply(ctx, body, asked, () => reply.raw.destroyed))
      try {
        return await respond(await readAgain(ctx, replay, asked))
      } catch (error) {
        // A generation that is not stored has ended meanwhile; the response is stored with the key.
        const isGone = error instanceof ApiError && error.code === 'RESOURCE_NOT_FOUND'
        throw isGone && body.conversationId === undefined ? new KeyTaken() : error
      }
    },
  ),
]

function textOfAnswer(answer: Answer, mayLink: MayLink): Static<typeof chat.success.schema> {
  // In this format, half an answer cannot be told from a whole one.
  if (answer.metadata.finishReason === 'error') throw new ApiError('CHAT_PROVIDER_ERROR')
  return { text: withoutForeignLinks(textOf(answer), mayLink), sources: answer.metadata.sources ?? [] }
}
