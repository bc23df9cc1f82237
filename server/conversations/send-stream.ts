import type { FastifyReply } from 'fastify'
import { DONE_FRAME, PING_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

const PING_MS = 15_000
const STALLED_MS = 30_000

const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
  connection: 'keep-alive',
}

/**
 * Sends a generation's events after the first `position` ones. A slow reader slows only itself: nothing is
 * written while its socket is full, and after 30 s without progress it is dropped; the generation goes on.
 */
export function sendStream(reply: FastifyReply, source: FrameSource, position = 0): void {
  reply.hijack()
  const response = reply.raw
  response.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...STREAM_HEADERS })

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
      response.end(source.broken ? pending : pending + DONE_FRAME)
    } else if (pending) write(pending)
  }
  // Events come in bursts, one for each piece of a network packet: one write for all of a turn.
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }
  const ping = setInterval(() => {
    if (!full && !response.destroyed) write(PING_FRAME)
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
