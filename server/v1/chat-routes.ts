import { requireAgent } from '../agents/find-agent.ts'
import { withModels } from '../agents/with-models.ts'
import type { Context } from '../context.ts'
import { textOf } from '../conversations/parts.ts'
import { sendStream } from '../conversations/send-stream.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route, SENT } from '../http/route.ts'
import { chat } from './chat-contract.ts'
import { startReply } from './start-reply.ts'
import { plainText, serverSentEvents, wordsOf } from './text-stream.ts'

export const chatRoutes = (ctx: Context): Route[] => [
  route(withModels(chat, ctx.models.ids()), async ({ caller: { account }, body, request, reply }) => {
    const agent = await requireAgent(ctx.db, account.id, body.chatbotId)
    const live = await startReply(ctx, account, agent, body, () => reply.raw.destroyed)
    await live.started
    if (body.stream) {
      const wantsEvents = request.headers.accept?.includes('text/event-stream')
      const format = wantsEvents ? serverSentEvents : plainText
      sendStream(reply, wordsOf(live, format), 0, format)
      return SENT
    }
    const answer = await live.answer
    // Half an answer cannot be told from a whole one here.
    if (answer.metadata.finishReason === 'error') throw new ApiError('CHAT_PROVIDER_ERROR')
    return { text: textOf(answer) }
  }),
]
