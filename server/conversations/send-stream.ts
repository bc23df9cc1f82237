import type { FastifyReply } from 'fastify'
import { DONE_FRAME, PING_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

const PING_MS = 15_000
const STALLED_MS = 30_000

/** How a stream looks around its frames. */
export type Wire = {
  headers: Record<string, string>
  /** null: silence stays silence. */
  ping: string | null
  /** After the last frame; null: only the end of the body says so, and a broken stream is cut off. */
  done: string | null
}

const SHARED_HEADERS = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  connection: 'keep-alive',
}

const EVENTS: Wire = {
  headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  ping: PING_FRAME,
  done: DONE_FRAME,
}

/**
 * Sends a generation's events after the first `position` ones. A slow reader slows only itself: nothing is
 * written while its socket is full, and after 30 s without progress it is dropped; the generation goes on.
 */
export function sendStream(reply: FastifyReply, source: FrameSource, position = 0, wire = EVENTS): void {
  reply.hijack()
  const response = reply.raw
  const headers = reply.getHeaders() as Record<string, string>
  response.writeHead(200, { ...headers, ...SHARED_HEADERS, ...wire.headers })

  let sent = position
  let full = false
  let scheduled = false
  let stalled: NodeJS.Timeout | undefined

  const write = (text: string): void => {
    full = !response.write(text)
    if (full) stalled = setTimeout(() => response.destroy(), STALLED_MS)
    ping.refresh()
  }
  const flush = (): void => {
    scheduled = false
    if (full || response.destroyed) return
    const pending = source.frames.length > sent ? source.frames.slice(sent).join('') : ''
    sent = Math.max(sent, source.frames.length)
    if (source.ended) {
      stop()
      // Without the mark of the end a reader knows that it has to come back.
      if (!source.broken) response.end(pending + (wire.done ?? ''))
      else if (wire.done !== null) response.end(pending)
      else if (pending === '') response.destroy()
      else response.write(pending, () => response.destroy())
    } else if (pending) write(pending)
  }
  // Events come in bursts, one for each piece of a network packet: one write for all of a turn.
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }
  const ping = setInterval(() => {
    if (wire.ping !== null && !full && !response.destroyed) write(wire.ping)
  }, PING_MS)
  const stopWatching = source.watch(schedule)
  const stop = (): void => {
    stopWatching()
    clearInterval(ping)
    clearTimeout(stalled)
  }
  response.on('drain', () => {
    clearTimeout(stalled)
    full = false
    flush()
  })
  response.on('close', stop)
  response.on('error', stop)
  // A client that left before the first event: its close has been told already.
  if (response.destroyed) stop()
  else flush()
}
