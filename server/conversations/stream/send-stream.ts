import type { FastifyReply } from 'fastify'
import { SENT } from '../../platform/http/route.ts'
import { type EventStream, eventStream, PING } from '../../platform/http/server/event-stream.ts'
import { shownParts } from '../records/parts.ts'
import { DONE_FRAME, type FrameSource, type Reading, type StreamEvent } from './reading.ts'

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
    if (sent >= source.count && !source.ended) return
    const held = sent < source.count ? source.held(sent) : []
    if (held) {
      this.#send(held)
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

const APPLICATION_EVENTS: Wire = { ...EVENTS, shape: () => new ApplicationFrames() }

export const wireFor = (includeServerActions: boolean): Wire =>
  includeServerActions ? EVENTS : APPLICATION_EVENTS

/** Sends a reply as a stream while it is generated, or as one body when it is complete. */
export async function sendReply(
  reply: FastifyReply,
  reading: Reading,
  { stream, includeServerActions }: { stream: boolean; includeServerActions: boolean },
) {
  if (stream) {
    await whileWatching(reading, reading.started)
    sendStream(reply, reading, 0, wireFor(includeServerActions))
    return SENT
  }
  const answer = await whileWatching(reading, reading.answer)
  return { data: { ...answer, parts: shownParts(answer.parts, includeServerActions) } }
}

/** Resolves to the result of `promise`, and keeps reading meanwhile. */
export async function whileWatching<T>(reading: Reading, promise: Promise<T>): Promise<T> {
  const stop = reading.watch(() => {})
  try {
    return await promise
  } finally {
    stop()
  }
}

type ToolEvent = Extract<StreamEvent, { toolCallId: string }>

/**
 * Filters an answer's events for an application, leaving out the calls that the service runs itself. A call is the
 * application's if it waits for a result, which is only known when the answer has ended. Until then, its events and
 * everything after them are held back, so that nobody is asked to run a call that comes to nothing. The order and the
 * ids of the events do not change.
 */
class ApplicationFrames implements Shape {
  readonly isBroken = false
  /** For each call, whether it is the application's; null while that is not known. */
  #calls: Map<string, boolean | null> | null = null
  /** The frames held back, beginning with the first event of an undecided call. */
  #held: { frame: string; callId: string | null }[] = []

  textOf(frame: string): string {
    const callId = this.#callOf(frame)
    if (callId === null && this.#held.length === 0) return frame
    this.#held.push({ frame, callId })
    return this.#shown()
  }

  end(): string {
    this.#decide(false)
    return this.#shown()
  }

  /** Returns the call that an event belongs to; null for other events. */
  #callOf(frame: string): string | null {
    const kind = kindOf(frame)
    if (kind === 'finish') {
      this.#decide((eventIn(frame) as { finishReason: string }).finishReason === 'tool-calls')
    }
    if (kind !== 'tool') return null
    const { type, toolCallId, ...event } = eventIn(frame) as ToolEvent
    this.#calls ??= new Map()
    if ('providerExecuted' in event && event.providerExecuted) this.#calls.set(toolCallId, false)
    else if (!this.#calls.has(toolCallId)) {
      this.#calls.set(toolCallId, type === 'tool-output-available' ? true : null)
    }
    return toolCallId
  }

  #decide(isApplications: boolean): void {
    for (const [id, known] of this.#calls ?? []) if (known === null) this.#calls?.set(id, isApplications)
  }

  #shown(): string {
    const stateOf = (callId: string) => this.#calls?.get(callId)
    const first = this.#held.findIndex(({ callId }) => callId !== null && stateOf(callId) === null)
    const known = first === -1 ? this.#held : this.#held.slice(0, first)
    this.#held = first === -1 ? [] : this.#held.slice(first)
    return known
      .filter(({ callId }) => callId === null || stateOf(callId))
      .map(({ frame }) => frame)
      .join('')
  }
}

function kindOf(frame: string): 'tool' | 'finish' | null {
  const at = frame.indexOf('\n') + 1
  if (frame.startsWith('event: tool-', at)) return 'tool'
  return frame.startsWith('event: finish\n', at) ? 'finish' : null
}

const eventIn = (frame: string): StreamEvent =>
  JSON.parse(frame.slice(frame.indexOf('\ndata: ') + '\ndata: '.length)) as StreamEvent
