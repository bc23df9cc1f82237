import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../db/refs.ts'
import { eventStream, PING } from '../../http/server/event-stream.ts'
import type { EventFeeds } from './event-feeds.ts'
import { lastNumber } from './event-queries.ts'

/** Then the reader comes back, with a key that is looked at again. */
const LONGEST_MS = 60 * 60 * 1_000
/** Tells the reader how long to wait before it comes back. */
const HELLO = 'retry: 2000\n\n'

/**
 * Sends an agent's events as they come, after the one that `Last-Event-ID` names or from now on, until the reader
 * leaves, the agent is gone or the service stops. Throws 429 RATE_LIMIT_TOO_MANY_REQUESTS, before the stream begins,
 * when the account reads too many.
 */
export async function followEvents(
  { db }: Pick<Context, 'db'>,
  feeds: EventFeeds,
  ref: AgentRef,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const named = numberIn(request.headers['last-event-id']?.toString())
  // Before the stream begins: what fails here is answered as every other failure.
  const position = named ?? (await lastNumber(db, ref))
  const stream = eventStream(reply)
  const place = feeds.join(ref, {
    position,
    isReady: stream.isReady,
    write: stream.write,
    // While the service stops, its open requests are waited for.
    isOver: () => !request.server.server.listening,
    end: stream.end,
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
  if (stream.isReady()) stream.write(HELLO)
}

/** A text that is no number names no event: then it is as if there was none. */
function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
