import type { FastifyReply } from 'fastify'
import type { Context } from '../../../context.ts'
import { endInTime, eventStream, PING } from '../../../platform/http/server/event-stream.ts'
import type { ConversationFeed } from './conversation-feed.ts'

/** Sends the version of a conversation now and whenever it changes, until the reader leaves or the service stops. */
export function followConversation(
  { stopping }: Pick<Context, 'stopping'>,
  feed: ConversationFeed,
  { agentId, conversationId }: { agentId: string; conversationId: string },
  reply: FastifyReply,
): void {
  const stream = eventStream(reply)
  const place = feed.join({
    agentId,
    conversationId,
    version: null,
    isReady: () => stream.isReady(),
    tell: (version) => stream.write(`event: version\ndata: ${JSON.stringify({ version })}\n\n`),
    end: () => stream.end(),
  })
  const forget = endInTime(stream, stopping)
  stream.open({
    headers: { 'content-type': 'text/event-stream' },
    ping: PING,
    onReady: place.look,
    onClose() {
      place.leave()
      forget()
    },
  })
  place.look()
}
