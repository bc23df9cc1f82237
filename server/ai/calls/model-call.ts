import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { ModelFailure, toModelFailure, tooLong } from '../failures/model-failure.ts'
import type { Refused } from './refused-settings.ts'

export type Part = LanguageModelV4StreamPart
export type CallOptions = Omit<LanguageModelV4CallOptions, 'abortSignal'> & {
  /** Set where the prompt begins like those of other calls with the same key, and should be read from a cache. */
  cacheKey?: string
}

/** The value of the `raw` part after which the text so far turns out to have been reasoning. */
export const WAS_REASONING = 'the text so far was reasoning'

/** Receives the parts of a response from a wire. */
export type Receiver = {
  readonly limits: CallLimits
  add(part: Part): void
  /** Reports that something other than a part was read, so the server is alive. */
  alive(): void
  end(): void
  /** Reports an error of the provider or of the network, with the settings of the request that it names. */
  fail(error: unknown, named?: Refused): void
}

/** A request under way. After `pause`, what is already being read is still reported. */
type Sent = { stop(): void; pause(): void; resume(): void }

/**
 * Sends one request to a model, without the refused settings, and returns a handle that cancels it. After the end, a
 * failure or the cancellation, nothing more is reported to the receiver. What it throws synchronously is our own error.
 */
export type Wire = (options: CallOptions, receiver: Receiver, refused: Refused) => Sent

export type ResolvedModel = {
  entry: ModelEntry
  wire(): Promise<Wire>
  /** The settings that the server refused in earlier requests, which it then answered without them. */
  refused: Map<string, string | null>
  /** Notes how a call ended: null if it was answered. */
  recordUse(failure: ModelFailure | null): void
}

type Result = IteratorResult<Part[], undefined>

/** A server is not read further while this many parts wait for the caller. */
const MAX_UNREAD = 256
const MAX_RETRIES = 2
/** A customer is waiting, so no retry is begun later than this after the call was. */
const PATIENCE_MS = 8_000
const RETRY_WAIT_MS = 300
/** How often a refused request is sent again without the settings that the server named. */
const MAX_REDUCTIONS = 2
const DONE: Result = { done: true, value: undefined }
const NO_USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}

/** Returns the milliseconds before the next attempt. Calls that failed together are not sent again together. */
function waitBefore(retries: number, { retryAfterMs }: ModelFailure): number {
  const wait = retryAfterMs ?? RETRY_WAIT_MS * 3 ** retries * (0.5 + Math.random())
  return retryAfterMs === null ? wait : wait * (1 + Math.random() / 10)
}

/**
 * A model call: an iterator over its parts, which yields everything that one read of the network brought. It enforces
 * the entry's timeouts and limits, and retries the request if it fails before the first content and a retry may help. A
 * request that is refused for one of its settings is sent without it.
 */
export class ModelCall implements Receiver, AsyncIterableIterator<Part[], undefined> {
  readonly limits: CallLimits
  readonly #resolved: ResolvedModel
  readonly #options: CallOptions
  readonly #signal: AbortSignal
  #clock: CallClock | null = null
  #request: Sent | null = null
  #retry: NodeJS.Timeout | undefined
  #begun = 0
  #attempts = 0
  #retries = 0
  #reductions = 0
  #refused: Map<string, string | null>
  #parts: Part[] = []
  #waiting: { resolve(result: Result): void; reject(error: unknown): void } | null = null
  #isWaking = false
  #isPaused = false
  #state: 'new' | 'running' | 'over' = 'new'
  #error: unknown = null
  #hasContent = false
  #hasFinish = false
  #text = 0
  #thinking = 0
  #toolInput = 0

  constructor(resolved: ResolvedModel, options: CallOptions, signal: AbortSignal) {
    this.#resolved = resolved
    this.#refused = new Map(resolved.refused)
    this.#options = options
    this.#signal = signal
    this.limits = limitsOf(resolved.entry)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    if (this.#state === 'new') this.#begin()
    if (this.#isPaused) this.#resume()
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      if (this.#parts.length > 0 || this.#state === 'over') this.#deliver()
    })
  }

  /** Stops the call because the caller wants no more. */
  return(): Promise<Result> {
    this.#parts = []
    this.#giveUp(null)
    return Promise.resolve(DONE)
  }

  add(part: Part): void {
    if (this.#state !== 'running') return
    switch (part.type) {
      case 'error':
        this.fail(part.error)
        return
      case 'text-delta':
        this.#text += part.delta.length
        if (this.#text > this.limits.text) {
          this.#cutOff(part.id, part.delta)
          return
        }
        this.#hasContent = true
        break
      case 'reasoning-delta':
        this.#thinking += part.delta.length
        if (this.#thinking > this.limits.text + this.limits.toolInput) {
          this.#cutOff(null, '')
          return
        }
        break
      case 'tool-input-delta':
        this.#toolInput += part.delta.length
        if (this.#toolInput > this.limits.toolInput) this.fail(tooLong('the input of a tool call'))
        break
      case 'tool-call':
        if (part.input.length > this.limits.toolInput) this.fail(tooLong('the input of a tool call'))
        this.#hasContent = true
        break
      case 'text-start':
      case 'tool-input-start':
        this.#hasContent = true
        break
      case 'finish':
        this.#hasFinish = part.finishReason.unified !== 'interrupted'
        if (!this.#hasFinish) return
        this.#resolved.recordUse(null)
        // Only now is it certain that the server accepts what was sent instead.
        for (const [name, instead] of this.#refused) this.#resolved.refused.set(name, instead)
    }
    if (this.#state !== 'running') return
    this.#parts.push(part)
    if (this.#hasContent || part.type === 'reasoning-start' || part.type === 'reasoning-delta') {
      this.#clock?.content()
    }
    if (this.#parts.length >= MAX_UNREAD) this.#pause()
    this.#wake()
  }

  alive(): void {
    this.#clock?.alive()
  }

  end(): void {
    if (this.#state !== 'running') return
    if (this.#hasFinish) {
      this.#request = null
      this.#giveUp(null)
    } else this.fail(new ModelFailure('unavailable', new Error('the stream ended without finish')))
  }

  fail(error: unknown, named: Refused = new Map()): void {
    if (this.#state !== 'running') return
    const { entry } = this.#resolved
    // An error in the built-in responder is our own and not a provider's.
    if (entry.provider === 'builtin') {
      this.#giveUp(error)
      return
    }
    const failure = toModelFailure(error, [entry.apiKey])
    if (this.#hasContent) this.#giveUp(failure)
    else if (failure.kind === 'rejected' && this.#reduce(named)) this.#again(0)
    else {
      const wait = waitBefore(this.#retries, failure)
      const isInTime = performance.now() - this.#begun + wait <= PATIENCE_MS
      if (failure.retryable && isInTime && ++this.#retries <= MAX_RETRIES) this.#again(wait)
      else this.#giveUp(failure)
    }
  }

  /** Leaves out what a refusal names. Returns false when that is nothing new, or the request was reduced often enough. */
  #reduce(named: Refused): boolean {
    const added = [...named].filter(([name]) => !this.#refused.has(name))
    if (added.length === 0 || ++this.#reductions > MAX_REDUCTIONS) return false
    for (const [name, instead] of added) this.#refused.set(name, instead)
    return true
  }

  #again(wait: number): void {
    this.#request?.stop()
    this.#request = null
    this.#parts = []
    if (this.#isPaused) this.#resume()
    this.#retry = setTimeout(() => void this.#attempt(), wait)
  }

  #begin(): void {
    this.#state = 'running'
    this.#begun = performance.now()
    if (this.#signal.aborted) {
      this.#onAbort()
      return
    }
    this.#signal.addEventListener('abort', this.#onAbort)
    this.#clock = new CallClock(this.#resolved.entry.timeouts, this.#onTimeout)
    void this.#attempt()
  }

  async #attempt(): Promise<void> {
    if (++this.#attempts > 1) this.#clock?.restart()
    try {
      const wire = await this.#resolved.wire()
      if (this.#state !== 'running') return
      const request = wire(this.#options, this, this.#refused)
      if (this.#state !== 'running') return
      this.#request = request
      if (this.#isPaused) request.pause()
    } catch (error) {
      this.#giveUp(error)
    }
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#clock?.hold(true)
    this.#request?.pause()
  }

  #resume(): void {
    this.#isPaused = false
    this.#clock?.hold(false)
    this.#request?.resume()
  }

  readonly #onAbort = (): void => {
    // The caller is gone, so nobody needs the parts that have been read.
    this.#parts = []
    this.#giveUp(new ModelFailure('aborted'))
  }

  readonly #onTimeout = (time: keyof CallTimes): void => {
    const { timeouts } = this.#resolved.entry
    const cause = new Error(
      `Raise timeouts.${time} of the model in MODELS_FILE if its server is only slow: over after ${timeouts[time]} ms`,
    )
    this.#giveUp(new ModelFailure('timeout', cause))
  }

  /** The answer has exceeded its limit and ends here, as it would at the model's own limit. */
  #cutOff(textId: string | null, delta: string): void {
    const room = delta.length - (this.#text - this.limits.text)
    const kept = delta.slice(0, Math.max(0, room)).replace(/[\uD800-\uDBFF]$/, '')
    if (textId !== null) {
      if (kept !== '') this.#parts.push({ type: 'text-delta', id: textId, delta: kept })
      this.#parts.push({ type: 'text-end', id: textId })
    }
    const finishReason = { unified: 'length', raw: 'more than maxOutputTokens' } as const
    this.#parts.push({ type: 'finish', finishReason, usage: NO_USAGE })
    this.#giveUp(null)
  }

  /** Stops reading. The parts read so far are still delivered, followed by the error if there is one. */
  #giveUp(error: unknown): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#error = error
    if (error instanceof ModelFailure && error.kind !== 'aborted') this.#resolved.recordUse(error)
    this.#clock?.stop()
    clearTimeout(this.#retry)
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#request?.stop()
    this.#request = null
    this.#wake()
  }

  /** Delivers the parts once everything that can be read now has been read. */
  #wake(): void {
    if (this.#isWaking || !this.#waiting) return
    this.#isWaking = true
    process.nextTick(this.#deliver)
  }

  readonly #deliver = (): void => {
    this.#isWaking = false
    const waiting = this.#waiting
    if (!waiting) return
    this.#waiting = null
    if (this.#parts.length > 0) {
      const value = this.#parts
      this.#parts = []
      waiting.resolve({ done: false, value })
    } else if (this.#error !== null) {
      waiting.reject(this.#error)
      this.#error = null
    } else if (this.#state === 'over') waiting.resolve(DONE)
    else this.#waiting = waiting
  }
}

/** Milliseconds. */
type CallTimes = { firstToken: number; idle: number; total: number }

/**
 * Checks that a model call, including its second attempt, makes progress. It starts at once; `onTimeout` is called at most
 * once, with the timeout that has expired.
 */
class CallClock {
  readonly #times: CallTimes
  readonly #onTimeout: (time: keyof CallTimes) => void
  readonly #end: number
  #lastSign = performance.now()
  #silence: 'firstToken' | 'idle' = 'firstToken'
  #held = false
  #timer: NodeJS.Timeout | undefined

  constructor(times: CallTimes, onTimeout: (time: keyof CallTimes) => void) {
    this.#times = times
    this.#onTimeout = onTimeout
    this.#end = this.#lastSign + times.total
    this.#watch(this.#lastSign)
  }

  /** Reports that something was read. It only reads the time, so it may be called for every read. */
  alive(): void {
    this.#lastSign = performance.now()
  }

  /**
   * Reports that a part of the answer or of the reasoning before it was read. From then on, the idle timeout applies.
   */
  content(): void {
    if (this.#silence === 'firstToken') this.#expect('idle')
    else this.#lastSign = performance.now()
  }

  /** Reports a new attempt, whose first part gets the full time of a first part. The total time continues. */
  restart(): void {
    this.#expect('firstToken')
  }

  /** While it is held, only the total time passes: nothing is read because the caller has not asked for more. */
  hold(isHeld: boolean): void {
    this.#held = isHeld
    this.#lastSign = performance.now()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #expect(silence: 'firstToken' | 'idle'): void {
    this.#silence = silence
    this.#lastSign = performance.now()
    clearTimeout(this.#timer)
    this.#watch(this.#lastSign)
  }

  /** A single timer sleeps until the earliest possible timeout; progress does not reset it. */
  #watch(now: number): void {
    const next = Math.min(this.#lastSign + this.#times[this.#silence], this.#end)
    this.#timer = setTimeout(() => this.#check(), Math.ceil(next - now))
  }

  #check(): void {
    const now = performance.now()
    if (this.#held) this.#lastSign = now
    if (now >= this.#end) this.#onTimeout('total')
    else if (now >= this.#lastSign + this.#times[this.#silence]) this.#onTimeout(this.#silence)
    else this.#watch(now)
  }
}

/**
 * The upper limits of one answer, whatever a provider sends. Models are told `maxOutputTokens`; these limits are so
 * generous that only a provider that ignores it, or that is broken, exceeds them.
 */
export type CallLimits = {
  /** Characters of the answer's text, and of its reasoning. */
  text: number
  /** Characters of the inputs of all tool calls. */
  toolInput: number
  /** Bytes of one line or one event of the stream. */
  line: number
  /** Bytes of the whole body. */
  body: number
}

/** In European languages, a token stands for about four characters. */
const CHARACTERS_PER_TOKEN = 8
const MORE_CHARACTERS = 4_000
const TOOL_INPUT = 256_000
/**
 * An event for one token takes about 300 bytes, or 1,000 with annotations of a content filter or with repeated
 * reasoning.
 */
const BYTES_PER_TOKEN = 2_048
const MORE_BYTES = 4 * 1024 * 1024
const LINE = 1024 * 1024

export function limitsOf({ maxOutputTokens }: Pick<ModelEntry, 'maxOutputTokens'>): CallLimits {
  const text = maxOutputTokens * CHARACTERS_PER_TOKEN + MORE_CHARACTERS
  return {
    text,
    toolInput: Math.max(text, TOOL_INPUT),
    // A provider may repeat the whole answer in its last event.
    line: LINE + 4 * text,
    body: maxOutputTokens * BYTES_PER_TOKEN + MORE_BYTES,
  }
}
