import type { ServerResponse } from 'node:http'
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

/** After this time a stream without an end of its own ends, and the reader reconnects, so that its key is checked again. */
const MAX_MS = 60 * 60 * 1_000

/** Ends a stream that has no end of its own after an hour, and when the service stops. Returns a function that forgets it. */
export function endInTime(stream: EventStream, stopping: AbortSignal): () => void {
  const end = (): void => stream.end()
  const timer = setTimeout(end, MAX_MS)
  if (stopping.aborted) setImmediate(end)
  stopping.addEventListener('abort', end)
  return () => {
    clearTimeout(timer)
    stopping.removeEventListener('abort', end)
  }
}

export const eventStream = (reply: FastifyReply): EventStream => new ReplyStream(reply)

/** A class with few functions of its own, because thousands of streams are held at a time. */
class ReplyStream implements EventStream {
  readonly #reply: FastifyReply
  readonly #response: ServerResponse
  #options: Options | null = null
  #full = false
  #closed = false
  #hasHead = false
  #stalled: NodeJS.Timeout | undefined
  #pinging: NodeJS.Timeout | undefined

  constructor(reply: FastifyReply) {
    this.#reply = reply
    this.#response = reply.raw
  }

  open(options: Options): void {
    this.#options = options
    const reply = this.#reply
    const response = this.#response
    reply.hijack()
    // If the client disconnected before the start, the close event has already been emitted.
    if (response.destroyed) {
      this.#close()
      return
    }
    response.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
      ...options.headers,
    })
    // Node keeps the headers back until the first write, but the client must learn at once that the stream is open.
    setImmediate(() => {
      if (!this.#closed) this.#sendHead()
    })
    this.#pinging = setInterval(() => {
      if (options.ping !== null && this.isReady()) this.write(options.ping)
    }, PING_MS)
    response.on('drain', () => {
      clearTimeout(this.#stalled)
      this.#full = false
      options.onReady()
    })
    const close = (): void => this.#close()
    response.on('close', close)
    response.on('error', close)
  }

  isReady(): boolean {
    return !this.#full && !this.#closed && !this.#response.destroyed
  }

  write(text: string): void {
    const response = this.#response
    const { socket } = response
    // The head and the first text leave together.
    socket?.cork()
    this.#sendHead()
    this.#full = !response.write(text)
    socket?.uncork()
    if (this.#full) this.#stalled = setTimeout(() => response.destroy(), STALLED_MS)
    this.#pinging?.refresh()
  }

  end(lastText = ''): void {
    this.#close()
    this.#response.end(lastText)
  }

  breakOff(lastText: string): void {
    this.#close()
    const response = this.#response
    if (lastText === '') response.destroy()
    else response.write(lastText, () => response.destroy())
  }

  /**
   * Sends the head by itself, because Node would otherwise put it before the first text, and then keep it as the chain of
   * its hundred pieces until the end of the stream.
   */
  #sendHead(): void {
    if (this.#hasHead) return
    this.#hasHead = true
    this.#response.flushHeaders()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#pinging)
    clearTimeout(this.#stalled)
    this.#options?.onClose()
  }
}
