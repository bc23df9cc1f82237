import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { AccountId } from '../../db/tables.ts'
import { eventsAfter, type Feed, lastNumber } from './event-queries.ts'

/** Notices may be lost; after this time the rows are looked at without one. */
const LOOK_EVERY_MS = 2_000
const PING_MS = 15_000
const STALLED_MS = 30_000
/** Then the reader comes back, with a key that is looked at again. */
const LONGEST_MS = 60 * 60 * 1_000
const PING = ': ping\n\n'
/** Tells the reader how long to wait before it comes back. */
const HELLO = 'retry: 2000\n\n'

type Owner = { accountId: AccountId; agentId: string }

/**
 * Sends an agent's events as they come, after the one that `Last-Event-ID` names or from now on, until the reader
 * leaves, the agent is gone or the service stops. A reader that takes nothing for 30 s is dropped.
 */
export async function followEvents(
  { db, notifier, log }: Pick<Context, 'db' | 'notifier' | 'log'>,
  { accountId, agentId }: Owner,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const named = numberIn(request.headers['last-event-id']?.toString())
  // Before the stream begins: what fails here is answered as every other failure.
  let position = named ?? (await lastNumber(db, accountId, agentId))
  reply.hijack()
  const response = reply.raw
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    connection: 'keep-alive',
  })

  let full = false
  let looking = false
  let again = false
  let stalled: NodeJS.Timeout | undefined
  const write = (text: string): void => {
    full = !response.write(text)
    if (full) stalled = setTimeout(() => response.destroy(), STALLED_MS)
    ping.refresh()
  }
  const look = async (): Promise<void> => {
    again = looking || full
    if (again || response.destroyed || response.writableEnded) return
    looking = true
    try {
      const feed = await eventsAfter(db, accountId, agentId, position)
      if (response.destroyed || response.writableEnded) return
      if (feed === 'gone') response.end()
      else if (feed.text !== '') {
        position = feed.position
        write(feed.text)
        again ||= feed.hasMore && !full
      }
    } catch (error) {
      log.warn({ err: error }, 'events of a help desk')
    } finally {
      looking = false
      if (again) setImmediate(look)
    }
  }
  const ping = setInterval(() => {
    if (!full && !response.writableEnded) write(PING)
  }, PING_MS)
  const timer = setInterval(() => {
    // While the service stops, its open requests are waited for.
    if (!request.server.server.listening) response.end()
    else void look()
  }, LOOK_EVERY_MS)
  const end = setTimeout(() => response.end(), LONGEST_MS)
  const stopListening = notifier.on('helpdesk', (id) => {
    if (id === agentId) void look()
  })
  const stop = (): void => {
    stopListening()
    clearInterval(ping)
    clearInterval(timer)
    clearTimeout(end)
    clearTimeout(stalled)
  }
  response.on('drain', () => {
    clearTimeout(stalled)
    full = false
    void look()
  })
  response.on('close', stop)
  response.on('error', stop)
  if (response.destroyed) return stop()
  write(HELLO)
  void look()
}

/** A text that is no number names no event: then it is as if there was none. */
function numberIn(text: string | undefined): Feed['position'] | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
