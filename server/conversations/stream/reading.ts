import type { Static } from 'typebox'
import type { CitedSource } from '../../knowledge/search/answering/schema.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type {
  FinishReason,
  GenerationsTable,
  MessagePart,
  StopReason,
} from '../../platform/db/tables/conversations.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Ungrounded } from '../prompt/ungrounded-values.ts'
import type { ChatAnswer } from '../records/schema.ts'

/** service-api, "Stream finish metadata". */
export type FinishMetadata = {
  messageId: string
  userMessageId: string
  conversationId: string
  userId: string | null
  usage: { credits: number }
  /** The model that answered in place of the agent's own, whose provider failed. */
  model?: string
  /** Whom the answer offers; known at its end. */
  offer?: 'person'
  /** Values of the answer that its model was not given; known at its end. */
  ungrounded?: Ungrounded[]
}

/** `providerExecuted`: the call runs here; an application runs only the calls without it. */
type ToolInput = { toolCallId: string; toolName: string; providerExecuted?: true }

/** The events of an answer's stream (service-api, "Events"); our own kinds begin with `data-`. */
export type StreamEvent =
  | { type: 'start'; messageId: string }
  | { type: 'message-metadata'; messageMetadata: FinishMetadata }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | ({ type: 'tool-input-start' } & ToolInput)
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | ({ type: 'tool-input-available'; input: unknown } & ToolInput)
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted?: true }
  | { type: 'data-sources'; data: { sources: Static<typeof CitedSource>[] } }
  /** A person has taken the conversation over or ended it; the text of this answer so far is discarded. */
  | { type: 'data-handoff'; data: { status: 'taken_over' | 'ended' } }
  /** The process is shutting down; after that time, the stream continues or the stored answer is available. */
  | { type: 'data-reattach'; data: { afterMs: number }; transient: true }
  | { type: 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: FinishReason; messageMetadata: FinishMetadata }

/** An upper bound on the events of an answer. */
export const EVENTS_PER_GENERATION = 100_000

export const DONE_FRAME = 'data: [DONE]\n\n'

/** Encodes one event for the wire. Joined like this, it is one string in memory and no chain of its pieces. */
export const frameOf = (id: number, event: StreamEvent): string =>
  ['id: ', id, '\nevent: ', event.type, '\ndata: ', JSON.stringify(event), '\n\n'].join('')

export type Answer = Static<typeof ChatAnswer>['data']
export type AnswerMetadata = Answer['metadata']

/**
 * Encoded events in the order they were produced, for readers to follow. Memory holds the newest ones, and the log all
 * of them.
 */
export type FrameSource = {
  /** The number of events so far. */
  readonly count: number
  /** Returns events from number `from` on that are in memory; null when only the log has them. */
  held(from: number): readonly string[] | null
  /** Returns events from number `from` on from the log; an empty array when the log no longer has them. */
  logged(from: number): Promise<string[]>
  readonly ended: boolean
  /** Whether it ended without its last event, so that the reader has to reconnect. */
  readonly broken: boolean
  /** Returns whether further events may be shown; see `Showing`. If absent, they may. */
  readonly showing?: () => Showing
  /** Calls `listener` when there is more to show and at the end. Returns a function that stops this. */
  watch(listener: () => void): () => void
}

/**
 * After this process was paused, another one may have closed the generation. Nothing more is shown until that is known
 * (`unsure`), and never again if it was closed (`lost`).
 */
type Showing = 'allowed' | 'lost' | { unsure: Promise<void> }

/** A reply as its readers see it, whichever process generates it. */
export type Reading = FrameSource & {
  /** Resolves at the first event, rejects when the generation failed before one. */
  readonly started: Promise<void>
  /** Resolves to the whole answer; rejects when there is none. */
  readonly answer: Promise<Answer>
  /** Resolves when the generation has ended and is stored. */
  readonly ending: Promise<void>
}

/** Characters of frames that are held for readers who keep up, although the log has them. */
const HELD = 131_072

type ReadLog = (from: number) => Promise<StreamEvent[]>

/**
 * Events with numbers after `firstEvent`, for any number of readers, each at its own pace. It is a class because thousands
 * are held at a time, and an object literal with its own accessors and closures takes several kilobytes.
 */
export class GrowingReading implements Reading {
  readonly #firstEvent: number
  readonly #readLog: ReadLog
  /** The frames after the first `#dropped`. */
  readonly #frames: string[] = []
  #dropped = 0
  #held = 0
  readonly #listeners = new Set<() => void>()
  readonly #started = waitable<void>()
  readonly #answer = waitable<Answer>()
  readonly #ending = waitable<void>()
  readonly started = this.#started.promise
  readonly answer = this.#answer.promise
  readonly ending = this.#ending.promise
  ended = false
  broken = false

  constructor(firstEvent: number, readLog: ReadLog) {
    this.#firstEvent = firstEvent
    this.#readLog = readLog
  }

  get count(): number {
    return this.#dropped + this.#frames.length
  }

  /** The number of readers that follow it. */
  get watchers(): number {
    return this.#listeners.size
  }

  held(from: number): readonly string[] | null {
    return from < this.#dropped ? null : this.#frames.slice(from - this.#dropped)
  }

  async logged(from: number): Promise<string[]> {
    const events = await this.#readLog(from)
    return events.map((event, i) => frameOf(this.#firstEvent + from + i + 1, event))
  }

  emit(event: StreamEvent): void {
    const frame = frameOf(this.#firstEvent + this.count + 1, event)
    this.#frames.push(frame)
    this.#held += frame.length
    this.#started.resolve()
    this.notify()
  }

  /** Lets memory drop some of the first `count` frames, because they are in the log. */
  markLogged(count: number): void {
    if (this.#held < 2 * HELD) return
    let first = 0
    while (this.#held > HELD && this.#dropped + first < count)
      this.#held -= this.#frames[first++]?.length ?? 0
    this.#frames.splice(0, first)
    this.#dropped += first
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Closes it after its last event. An error is passed to those who wait for the whole answer. */
  end(result: Answer | ApiError): void {
    this.ended = true
    if (result instanceof ApiError) {
      this.#started.reject(result)
      this.#answer.reject(result)
    } else this.#answer.resolve(result)
    this.#ending.resolve()
    this.notify()
  }

  /** Closes it without a last event: readers have to reconnect, or get the error. */
  fail(error: ApiError): void {
    this.broken = true
    this.end(error)
  }

  /** Lets readers look whether there is more to show. */
  notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** The caller may be gone by the time the generation fails, so the rejection must not go unhandled. */
function waitable<T>(): PromiseWithResolvers<T> {
  const waiting = Promise.withResolvers<T>()
  waiting.promise.catch(() => {})
  return waiting
}

/** The ids and properties of a reply, known from its start. */
export type GenerationIds = {
  id: string
  conversationId: string
  userMessageId: string
  /** The id of the message that is being created or continued. */
  messageId: string
  userId: string | null
  credits: number
  kind: GenerationsTable['kind']
  /** The epoch of the process at the start of the generation. */
  epoch: number
  /** The ids of its events begin after this number, so that ids increase throughout a conversation. */
  firstEvent: number
  /** The model that answers in place of the agent's own, whose provider failed. */
  standIn?: string
}

/** `shutdown` means that this process has to end, and `lost` that another process has closed the generation. */
type AbortReason = StopReason | 'shutdown' | 'lost'

type Surroundings = {
  accountId: AccountId
  readLog: ReadLog
  /**
   * Whether the conversation, and with it the log, is deleted as soon as the generation has ended; readers are then
   * served from memory.
   */
  transient: boolean
  process: Pick<ServiceProcess, 'isSure' | 'confirm'>
  /** Called when this many more events wait for the log, or fewer. */
  onUnsaved(live: LiveGeneration, events: number): void
}

/**
 * A reply that this process is generating. It does not depend on its readers, which may come and go; only the
 * position of each is kept.
 */
export class LiveGeneration extends GrowingReading {
  readonly ids: GenerationIds
  /** The parts generated so far. */
  readonly parts: MessagePart[] = []
  /** The events that are not known to be in the log yet, oldest first. */
  unsaved: StreamEvent[] = []
  /** Why it was aborted, if it was. */
  abortReason: AbortReason | null = null
  /**
   * Whether a request was sent to a model. The provider charges for it even when the answer was stopped before its
   * first word.
   */
  wasAsked = false
  /** Whether the rest of the events is stored with the end. */
  isEnding = false
  readonly #surroundings: Surroundings
  readonly #controller = new AbortController()

  constructor(ids: GenerationIds, surroundings: Surroundings) {
    super(ids.firstEvent, surroundings.readLog)
    this.ids = ids
    this.#surroundings = surroundings
  }

  get accountId(): AccountId {
    return this.#surroundings.accountId
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  noteAsked(): void {
    this.wasAsked = true
  }

  showing(): Showing {
    // A late write to the log may find that the generation has already been ended by this process; then everything is
    // shown.
    const isEndedHere = this.ended && !this.broken
    if (this.abortReason === 'lost' && !isEndedHere) return 'lost'
    const { process } = this.#surroundings
    return process.isSure() ? 'allowed' : { unsure: process.confirm() }
  }

  override emit(event: StreamEvent): void {
    this.unsaved.push(event)
    super.emit(event)
    this.#surroundings.onUnsaved(this, 1)
  }

  /** Marks the first `count` unsaved events as logged. */
  markSaved(count: number): void {
    this.unsaved = this.unsaved.slice(count)
    this.#surroundings.onUnsaved(this, -count)
    if (!this.#surroundings.transient) this.markLogged(this.count - this.unsaved.length)
  }

  /**
   * Returns the events that are not in the log yet, and the number of the first one. From now on, the log leaves them to
   * the statement that stores the end.
   */
  takeUnlogged(): { position: number; events: readonly StreamEvent[] } {
    this.isEnding = true
    return { position: this.count - this.unsaved.length, events: [...this.unsaved] }
  }

  /** Shows the last events, which have already been stored, and closes the stream. */
  endWith(lastEvents: readonly StreamEvent[], result: Answer | ApiError): void {
    this.#forgetUnsaved()
    for (const event of lastEvents) super.emit(event)
    if (!this.#surroundings.transient) this.markLogged(this.count)
    this.end(result)
  }

  override fail(error: ApiError): void {
    this.#forgetUnsaved()
    super.fail(error)
  }

  #forgetUnsaved(): void {
    this.isEnding = true
    const { length } = this.unsaved
    this.unsaved = []
    this.#surroundings.onUnsaved(this, -length)
  }

  abort(reason: AbortReason): void {
    this.abortReason ??= reason
    this.#controller.abort()
  }
}
