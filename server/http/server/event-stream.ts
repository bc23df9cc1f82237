import type { FastifyReply } from 'fastify'

const PING_MS = 15_000
const STALLED_MS = 30_000

/** A comment of server-sent events. */
export const PING = ': ping\n\n'

/**
 * An answer that is written as things happen. A slow reader slows only itself: nothing is written while its socket is
 * full, and after 30 s without progress it is dropped.
 */
export type EventStream = {
  /** Begins the answer; before it nothing is sent, and the request can still be answered in another way. */
  open(options: Options): void
  /** Whether the reader is there and takes more now; only then may something be written. */
  isReady(): boolean
  write(text: string): void
  end(lastText?: string): void
  /** Breaks the body off after the text, so that nobody takes it for whole. */
  breakOff(lastText: string): void
}

type Options = {
  headers: Record<string, string>
  /** What is sent every 15 s of silence; null: nothing. */
  ping: string | null
  /** The reader takes more again. */
  onReady(): void
  /** Once: when it has ended, or the reader has left, also when that was before the beginning. */
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
      // A client that left before the beginning: its close has been told already.
      if (response.destroyed) return close()
      response.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        connection: 'keep-alive',
        ...headers,
      })
      // Node keeps the headers until the first write. A client must learn at once that the stream is open, also when
      // there is nothing to say yet.
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
