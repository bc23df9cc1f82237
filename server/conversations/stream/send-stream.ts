import type { FastifyReply } from 'fastify'
import { eventStream, PING } from '../../http/server/event-stream.ts'
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

const AS_IT_IS = (): Shape => ({ textOf: (frame) => frame, isBroken: false })

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
export function sendStream(reply: FastifyReply, source: FrameSource, position = 0, wire = EVENTS): void {
  const stream = eventStream(reply)
  let sent = position
  let scheduled = false
  let writes = 0
  let lastWrite = 0
  let reading = false
  const shape = (wire.shape ?? AS_IT_IS)()
  const flush = (): void => {
    scheduled = false
    if (reading || !stream.isReady()) return
    const showing = source.showing?.() ?? 'allowed'
    if (typeof showing === 'object') {
      void showing.unsure.then(flush)
      return
    }
    if (showing === 'lost') sent = Math.max(sent, source.count)
    const showable = source.showable ?? source.count
    if (sent >= showable && !source.ended) return
    const held = sent < source.count ? source.held(sent) : []
    if (held) {
      send(sent + held.length > showable ? held.slice(0, showable - sent) : held)
      return
    }
    // For a reader that has fallen behind, the log is read piece by piece as it catches up.
    reading = true
    source
      .logged(sent)
      .catch(() => [])
      .then((frames) => {
        reading = false
        if (frames.length === 0) stream.breakOff('')
        else if (stream.isReady()) send(frames)
      })
  }
  const send = (frames: readonly string[]): void => {
    const texts = frames.map(shape.textOf).join('')
    sent += frames.length
    const hasAll = source.ended && sent >= source.count
    const pending = hasAll && !source.broken ? texts + (shape.end?.() ?? '') : texts
    if (!hasAll) {
      if (pending) {
        writes++
        lastWrite = performance.now()
        stream.write(pending)
      }
      // Yield to other readers in between. When this reader's buffer is full, `onReady` resumes it.
      if (sent < source.count) setImmediate(flush)
    } else if (!source.broken && !shape.isBroken) stream.end(pending + (wire.done ?? ''))
    // Without the end marker, a reader knows that it has to reconnect.
    else if (wire.done !== null) stream.end(pending)
    else stream.breakOff(pending)
  }
  // Events come in bursts, one per network packet, and each burst needs only one write.
  const schedule = (): void => {
    if (scheduled) {
      // The end does not wait for a delayed write.
      if (source.ended) flush()
      return
    }
    scheduled = true
    const sinceLast = performance.now() - lastWrite
    if (source.ended || writes < WRITES_AT_ONCE || sinceLast >= BETWEEN_WRITES_MS) setImmediate(flush)
    else setTimeout(flush, BETWEEN_WRITES_MS - sinceLast)
  }
  stream.open({ ...wire, onReady: flush, onClose: source.watch(schedule) })
  flush()
}
