import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { endInTime, eventStream, PING } from '../../platform/http/server/event-stream.ts'
import type { EventFeeds } from './event-feeds.ts'
import { lastNumber } from './event-queries.ts'

/** Tells the reader how long to wait before reconnecting. */
const HELLO = 'retry: 2000\n\n'

/**
 * Streams an agent's events, from the one after `Last-Event-ID` or from now on, until the reader leaves, the agent is
 * deleted or the service stops. Throws 429 RATE_LIMIT_TOO_MANY_REQUESTS, before the stream begins, when the account has
 * too many readers.
 */
export async function followEvents(
  { db, stopping }: Pick<Context, 'db' | 'stopping'>,
  feeds: EventFeeds,
  ref: AgentRef,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const named = numberIn(request.headers['last-event-id']?.toString())
  // This happens before the stream begins, so that an error is answered like any other.
  const position = named ?? (await lastNumber(db, ref))
  const stream = eventStream(reply)
  const place = feeds.join(ref, {
    position,
    isReady: () => stream.isReady(),
    write: (text) => stream.write(text),
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
  if (stream.isReady()) stream.write(HELLO)
}

/** Returns the number; a text that is not a number counts as if it were absent. */
function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
