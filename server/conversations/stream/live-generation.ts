import type { AccountId } from '../../db/tables/columns.ts'
import type { GenerationsTable, MessagePart, StopReason } from '../../db/tables/conversations.ts'
import type { ServiceProcess } from '../../db/upkeep/processes.ts'
import type { ApiError } from '../../http/errors.ts'
import type { Backlog } from './backlog.ts'
import type { StreamEvent } from './events.ts'
import { type Answer, GrowingReading, type ReadLog, type Showing } from './growing-reading.ts'

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
  backlog: Pick<Backlog, 'add'>
  log: {
    /** Called when there is something to save. */
    add(live: LiveGeneration): void
    /**
     * Whether the account's events are shown only once they are in the log; `since` is the time of the oldest one that is
     * not.
     */
    isBehind(accountId: AccountId, since: number): boolean
  }
}

/**
 * A reply that this process is generating. It does not depend on its readers, which may come and go; only the
 * position of each is kept.
 */
export class LiveGeneration extends GrowingReading {
  readonly ids: GenerationIds
  /** The parts generated so far. */
  readonly parts: MessagePart[] = []
  readonly #surroundings: Surroundings
  readonly #controller = new AbortController()
  #unsaved: StreamEvent[] = []
  #unsavedSince = 0
  /** The characters of the frames of the unsaved events. */
  #unsavedSize = 0
  #abortReason: AbortReason | null = null
  #wasAsked = false

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

  /** The events that are not known to be in the log yet, oldest first. */
  get unsaved(): readonly StreamEvent[] {
    return this.#unsaved
  }

  /** When the oldest of the unsaved events was emitted, by `performance.now()`. */
  get unsavedSince(): number {
    return this.#unsavedSince
  }

  /** Why it was aborted, if it was. */
  get abortReason(): AbortReason | null {
    return this.#abortReason
  }

  /**
   * Whether a request was sent to a model. The provider charges for it even when the answer was stopped before its
   * first word.
   */
  get wasAsked(): boolean {
    return this.#wasAsked
  }

  noteAsked(): void {
    this.#wasAsked = true
  }

  showing(): Showing {
    // A late write to the log may find that the generation has already been ended by this process; then everything is
    // shown.
    const isEndedHere = this.ended && !this.broken
    if (this.#abortReason === 'lost' && !isEndedHere) return 'lost'
    const { process } = this.#surroundings
    return process.isSure() ? 'allowed' : { unsure: process.confirm() }
  }

  /**
   * What a reader was shown has to survive this process. While the log is slow, only what it holds is shown. The last
   * events are stored before they are emitted.
   */
  get showable(): number {
    const { log } = this.#surroundings
    const isHeld = this.#unsaved.length > 0 && !this.ended && log.isBehind(this.accountId, this.#unsavedSince)
    return isHeld ? this.count - this.#unsaved.length : this.count
  }

  override emit(event: StreamEvent): void {
    if (this.#unsaved.length === 0) this.#unsavedSince = performance.now()
    this.#unsaved.push(event)
    super.emit(event)
    this.#countUnsaved(this.sizeOf(this.count - 1, 1))
    this.#surroundings.log.add(this)
  }

  /** Marks the first `count` unsaved events as logged; `at` is when they were taken to be written. */
  markSaved(count: number, at: number): void {
    this.#countUnsaved(-this.sizeOf(this.count - this.#unsaved.length, count))
    this.#unsaved = this.#unsaved.slice(count)
    this.#unsavedSince = at
    if (!this.#surroundings.transient) this.markLogged(this.count - this.#unsaved.length)
    this.notify()
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
    this.#unsaved = []
    this.#countUnsaved(-this.#unsavedSize)
  }

  #countUnsaved(characters: number): void {
    this.#unsavedSize += characters
    this.#surroundings.backlog.add(this.accountId, characters)
  }

  abort(reason: AbortReason): void {
    this.#abortReason ??= reason
    this.#controller.abort()
  }
}
