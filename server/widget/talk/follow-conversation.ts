import type { FastifyReply, FastifyRequest } from 'fastify'
import { eventStream, PING } from '../../http/server/event-stream.ts'
import type { ConversationFeed } from './conversation-feed.ts'

/** After this time the stream ends, and a reader that is still interested reconnects. */
const LONGEST_MS = 60 * 60 * 1_000

/** Sends the version of a conversation now and whenever it changes, until the reader leaves or the service stops. */
export function followConversation(
  feed: ConversationFeed,
  { agentId, conversationId }: { agentId: string; conversationId: string },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const stream = eventStream(reply)
  const place = feed.join({
    agentId,
    conversationId,
    version: null,
    isReady: () => stream.isReady(),
    tell: (version) => stream.write(`event: version\ndata: ${JSON.stringify({ version })}\n\n`),
    // While the service stops, it waits for open requests, so this one has to end.
    isOver: () => !request.server.server.listening,
    end: () => stream.end(),
  })
  const ending = setTimeout(() => stream.end(), LONGEST_MS)
  stream.open({
    headers: { 'content-type': 'text/event-stream' },
    ping: PING,
    onReady: place.look,
    onClose() {
      place.leave()
      clearTimeout(ending)
    },
  })
  place.look()
}
