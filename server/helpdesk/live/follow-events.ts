import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Owner } from '../../agents/find-agent.ts'
import type { Context } from '../../context.ts'
import type { EventFeeds } from './event-feeds.ts'
import { lastNumber } from './event-queries.ts'

const PING_MS = 15_000
const STALLED_MS = 30_000
/** Then the reader comes back, with a key that is looked at again. */
const LONGEST_MS = 60 * 60 * 1_000
const PING = ': ping\n\n'
/** Tells the reader how long to wait before it comes back. */
const HELLO = 'retry: 2000\n\n'

/**
 * Sends an agent's events as they come, after the one that `Last-Event-ID` names or from now on, until the reader
 * leaves, the agent is gone or the service stops. A reader that takes nothing for 30 s is dropped. Throws 429
 * RATE_LIMIT_TOO_MANY_REQUESTS, before the stream begins, when the account reads too many.
 */
export async function followEvents(
  { db }: Pick<Context, 'db'>,
  feeds: EventFeeds,
  owner: Owner,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const named = numberIn(request.headers['last-event-id']?.toString())
  // Before the stream begins: what fails here is answered as every other failure.
  const position = named ?? (await lastNumber(db, owner.accountId, owner.agentId))
  const response = reply.raw
  let full = false
  let stalled: NodeJS.Timeout | undefined
  const write = (text: string): void => {
    full = !response.write(text)
    if (full) stalled = setTimeout(() => response.destroy(), STALLED_MS)
    ping.refresh()
  }
  const isOpen = (): boolean => !response.destroyed && !response.writableEnded
  const place = feeds.join(owner, {
    position,
    isReady: () => !full && isOpen(),
    write,
    // While the service stops, its open requests are waited for.
    isOver: () => !request.server.server.listening,
    end: () => response.end(),
  })
  const ping = setInterval(() => {
    if (!full && isOpen()) write(PING)
  }, PING_MS)
  const end = setTimeout(() => response.end(), LONGEST_MS)
  const stop = (): void => {
    place.leave()
    clearInterval(ping)
    clearTimeout(end)
    clearTimeout(stalled)
  }
  response.on('drain', () => {
    clearTimeout(stalled)
    full = false
    place.look()
  })
  response.on('close', stop)
  response.on('error', stop)
  reply.hijack()
  if (response.destroyed) return stop()
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })
  write(HELLO)
}

/** A text that is no number names no event: then it is as if there was none. */
function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
