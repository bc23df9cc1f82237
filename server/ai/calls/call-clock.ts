/** Milliseconds. */
export type CallTimes = { firstToken: number; idle: number; total: number }

/**
 * Checks that a model call, including its second attempt, makes progress. It starts at once; `onTimeout` is called at most
 * once, with the timeout that has expired.
 */
export class CallClock {
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
