import type { FastifyReply } from 'fastify'
import { type EventStream, eventStream, PING } from '../../http/server/event-stream.ts'
import { DONE_FRAME } from './events.ts'
import type { FrameSource } from './growing-reading.ts'

/** The format of a stream and what surrounds its frames. */
export type Wire = {
  /**
   * Called once for each stream; the result receives every frame once and in order. If absent, frames are sent
   * unchanged.
   */
  shape?: () => Shape
  headers: Record<string, string>
  /** What is sent to keep an idle connection open; null: nothing. */
  ping: string | null
  /**
   * What is sent after the last frame. With null, only the end of the body marks the end, and a broken stream is cut
   * off.
   */
  done: string | null
}

export type Shape = {
  /** Returns what is sent in place of a frame. */
  textOf(frame: string): string
  /** Returns what was held back, once no more frames follow; absent if nothing is ever held back. */
  end?(): string
  /** Whether to cut off the body at the end, as for an interrupted answer. */
  readonly isBroken: boolean
}

const AS_IT_IS: Shape = { textOf: (frame) => frame, isBroken: false }

export const EVENTS: Wire = {
  headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  ping: PING,
  done: DONE_FRAME,
}

/**
 * Writing to a socket costs far more than producing an event. A write this soon after another is delayed, so that a
 * model that is faster than screens refresh causes few writes.
 */
const BETWEEN_WRITES_MS = 20
/** The writes that are never delayed: the first may hold only the start of the message, and the second its first word. */
const WRITES_AT_ONCE = 2

/** Sends a generation's events after the first `position` ones. The generation continues when its readers leave. */
export const sendStream = (reply: FastifyReply, source: FrameSource, position = 0, wire = EVENTS): void =>
  new Sender(eventStream(reply), source, position, wire).open()

/** Sends a generation's events to one reader. It is a class because thousands of readers are served at a time. */
class Sender {
  readonly #stream: EventStream
  readonly #source: FrameSource
  readonly #wire: Wire
  readonly #shape: Shape
  #sent: number
  #scheduled = false
  #writes = 0
  #lastWrite = 0
  #reading = false

  constructor(stream: EventStream, source: FrameSource, position: number, wire: Wire) {
    this.#stream = stream
    this.#source = source
    this.#wire = wire
    this.#shape = wire.shape?.() ?? AS_IT_IS
    this.#sent = position
  }

  open(): void {
    const { headers, ping } = this.#wire
    const onClose = this.#source.watch(() => this.#schedule())
    this.#stream.open({ headers, ping, onReady: this.#flush, onClose })
    this.#flush()
  }

  readonly #flush = (): void => {
    const source = this.#source
    this.#scheduled = false
    if (this.#reading || !this.#stream.isReady()) return
    const showing = source.showing?.() ?? 'allowed'
    if (typeof showing === 'object') {
      void showing.unsure.then(this.#flush)
      return
    }
    if (showing === 'lost') {
      // It may still turn out that this process has ended the generation itself, and then everything is shown.
      if (!source.ended) return
      this.#sent = Math.max(this.#sent, source.count)
    }
    const sent = this.#sent
    const showable = source.showable ?? source.count
    if (sent >= showable && !source.ended) return
    const held = sent < source.count ? source.held(sent) : []
    if (held) {
      this.#send(sent + held.length > showable ? held.slice(0, showable - sent) : held)
      return
    }
    // For a reader that has fallen behind, the log is read piece by piece as it catches up.
    this.#reading = true
    source
      .logged(sent)
      .catch(() => [])
      .then((frames) => {
        this.#reading = false
        if (frames.length === 0) this.#stream.breakOff('')
        else if (this.#stream.isReady()) this.#send(frames)
      })
  }

  #send(frames: readonly string[]): void {
    const source = this.#source
    const shape = this.#shape
    const stream = this.#stream
    const { done } = this.#wire
    const texts = frames.map((frame) => shape.textOf(frame)).join('')
    this.#sent += frames.length
    const hasAll = source.ended && this.#sent >= source.count
    const pending = hasAll && !source.broken ? texts + (shape.end?.() ?? '') : texts
    if (!hasAll) {
      if (pending) {
        this.#writes++
        this.#lastWrite = performance.now()
        stream.write(pending)
      }
      // Yield to other readers in between. When this reader's buffer is full, `onReady` resumes it.
      if (this.#sent < source.count) setImmediate(this.#flush)
    } else if (!source.broken && !shape.isBroken) stream.end(pending + (done ?? ''))
    // Without the end marker, a reader knows that it has to reconnect.
    else if (done !== null) stream.end(pending)
    else stream.breakOff(pending)
  }

  /** Events come in bursts, one per network packet, and each burst needs only one write. */
  #schedule(): void {
    if (this.#scheduled) {
      // The end does not wait for a delayed write.
      if (this.#source.ended) this.#flush()
      return
    }
    this.#scheduled = true
    const sinceLast = performance.now() - this.#lastWrite
    if (this.#source.ended || this.#writes < WRITES_AT_ONCE || sinceLast >= BETWEEN_WRITES_MS) {
      setImmediate(this.#flush)
    } else setTimeout(this.#flush, BETWEEN_WRITES_MS - sinceLast)
  }
}
