import type { FastifyReply } from 'fastify'

const PING_MS = 15_000
const STALLED_MS = 30_000

/** A comment of server-sent events. */
export const PING = ': ping\n\n'

/**
 * A response that is written bit by bit. A slow reader slows down only itself: nothing is written while its socket
 * is full, and after 30 s without progress the connection is closed.
 */
export type EventStream = {
  /** Starts the response. Until then nothing has been sent, and the request can still be answered in another way. */
  open(options: Options): void
  /** Returns whether the reader is connected and ready for more. Only then may something be written. */
  isReady(): boolean
  write(text: string): void
  end(lastText?: string): void
  /** Destroys the connection after the text, so that the body is recognised as incomplete. */
  breakOff(lastText: string): void
}

type Options = {
  headers: Record<string, string>
  /** The text to send after every 15 s of silence, or null for nothing. */
  ping: string | null
  /** Called when the reader is ready for more. */
  onReady(): void
  /** Called once when the response has ended or the reader has disconnected, even if that was before the start. */
  onClose(): void
}

export function eventStream(reply: FastifyReply): EventStream {
  const response = reply.raw
  let full = false
  let closed = false
  let begun = false
  let stalled: NodeJS.Timeout | undefined
  let pinging: NodeJS.Timeout | undefined
  let tell = (): void => {}

  const isReady = (): boolean => !full && !closed && !response.destroyed
  const write = (text: string): void => {
    begun = true
    full = !response.write(text)
    if (full) stalled = setTimeout(() => response.destroy(), STALLED_MS)
    pinging?.refresh()
  }
  const close = (): void => {
    if (closed) return
    closed = true
    clearInterval(pinging)
    clearTimeout(stalled)
    tell()
  }

  return {
    open({ headers, ping, onReady, onClose }) {
      tell = onClose
      reply.hijack()
      // If the client disconnected before the start, the close event has already been emitted.
      if (response.destroyed) return close()
      response.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        connection: 'keep-alive',
        ...headers,
      })
      // Node keeps the headers back until the first write, but the client must learn at once that the stream is open.
      setImmediate(() => {
        if (!begun && !closed) response.flushHeaders()
      })
      pinging = setInterval(() => {
        if (ping !== null && isReady()) write(ping)
      }, PING_MS)
      response.on('drain', () => {
        clearTimeout(stalled)
        full = false
        onReady()
      })
      response.on('close', close)
      response.on('error', close)
    },
    isReady,
    write,
    end(lastText = '') {
      close()
      response.end(lastText)
    },
    breakOff(lastText) {
      close()
      if (lastText === '') response.destroy()
      else response.write(lastText, () => response.destroy())
    },
  }
}
