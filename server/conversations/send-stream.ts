import type { FastifyReply } from 'fastify'
import { eventStream, PING } from '../http/event-stream.ts'
import { DONE_FRAME } from './events.ts'
import type { FrameSource } from './live-generation.ts'

/** How a stream looks around its frames. */
export type Wire = {
  headers: Record<string, string>
  /** null: silence stays silence. */
  ping: string | null
  /** After the last frame; null: only the end of the body says so, and a broken stream is cut off. */
  done: string | null
}

const EVENTS: Wire = {
  headers: { 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' },
  ping: PING,
  done: DONE_FRAME,
}

/** Sends a generation's events after the first `position` ones; the generation goes on without its readers. */
export function sendStream(reply: FastifyReply, source: FrameSource, position = 0, wire = EVENTS): void {
  const stream = eventStream(reply)
  let sent = position
  let scheduled = false
  const flush = (): void => {
    scheduled = false
    if (!stream.isReady()) return
    const pending = source.frames.length > sent ? source.frames.slice(sent).join('') : ''
    sent = Math.max(sent, source.frames.length)
    if (!source.ended) {
      if (pending) stream.write(pending)
    } else if (!source.broken) stream.end(pending + (wire.done ?? ''))
    // Without the mark of the end a reader knows that it has to come back.
    else if (wire.done !== null) stream.end(pending)
    else stream.breakOff(pending)
  }
  // Events come in bursts, one for each piece of a network packet: one write for all of a turn.
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }
  stream.open({ ...wire, onReady: flush, onClose: source.watch(schedule) })
  flush()
}
