import type { FastifyReply } from 'fastify'
import { eventStream, PING } from '../../http/server/event-stream.ts'
import { DONE_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

/** How a stream looks, and what stands around its frames. */
export type Wire = {
  /** Made for each stream, given every frame once and in order; absent: frames are sent as they are. */
  shape?: () => Shape
  headers: Record<string, string>
  /** null: silence stays silence. */
  ping: string | null
  /** After the last frame; null: only the end of the body says so, and a broken stream is cut off. */
  done: string | null
}

export type Shape = {
  /** What is sent in the place of a frame. */
  textOf(frame: string): string
  /** What it held back, when no more frames come; absent: it holds nothing back. */
  end?(): string
  /** The body is to be cut off at the end, as that of a broken answer. */
  readonly isBroken: boolean
}

const AS_IT_IS = (): Shape => ({ textOf: (frame) => frame, isBroken: false })

export const EVENTS: Wire = {
  headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  ping: PING,
  done: DONE_FRAME,
}

/**
 * Writing to a socket costs far more than making an event. A write so soon after another is put off, so that a model that
 * writes faster than a screen is drawn costs a few writes, and the first word waits for nothing.
 */
const BETWEEN_WRITES_MS = 20

/** Sends a generation's events after the first `position` ones; the generation goes on without its readers. */
export function sendStream(reply: FastifyReply, source: FrameSource, position = 0, wire = EVENTS): void {
  const stream = eventStream(reply)
  let sent = position
  let scheduled = false
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
    const held = sent < source.count ? source.held(sent) : []
    if (held) {
      send(held)
      return
    }
    // A reader that fell behind has its part of the log read for it whenever it takes more.
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
        lastWrite = performance.now()
        stream.write(pending)
      }
      // Others have their turn in between; a reader that is full comes back by itself.
      if (sent < source.count) setImmediate(flush)
    } else if (!source.broken && !shape.isBroken) stream.end(pending + (wire.done ?? ''))
    // Without the mark of the end a reader knows that it has to come back.
    else if (wire.done !== null) stream.end(pending)
    else stream.breakOff(pending)
  }
  // Events come in bursts, one for each piece of a network packet: one write for all of a turn.
  const schedule = (): void => {
    if (scheduled) {
      // The end does not wait for a write that was put off.
      if (source.ended) flush()
      return
    }
    scheduled = true
    const sinceLast = performance.now() - lastWrite
    if (source.ended || sinceLast >= BETWEEN_WRITES_MS) setImmediate(flush)
    else setTimeout(flush, BETWEEN_WRITES_MS - sinceLast)
  }
  stream.open({ ...wire, onReady: flush, onClose: source.watch(schedule) })
  flush()
}
