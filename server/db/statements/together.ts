import { isUnavailable } from '../connections/unavailable.ts'

type Limits = {
  /** The most calls that run together. */
  atOnce: number
  /** The shortest time between the starts of two groups with the same key, in milliseconds. */
  everyMs?: number
}

type Waiting<Call, Result> = {
  call: Call
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

type Line<Call, Result> = { waiting: Waiting<Call, Result>[]; onFull: () => void }

/** After this time, in milliseconds, a group that is still running, for example behind a lock, holds back no others. */
const SLOW_MS = 100

/**
 * Returns a function that runs calls with the same key together: calls that arrive while others run, or less than
 * `everyMs` after these have been started, wait for each other. A call that meets no others runs at once.
 *
 * `run` takes one or more calls and resolves to their results in the same order. When it throws, none of the calls may
 * have had an effect. If it throws for several calls, each of them is run again by itself, so that one bad call does
 * not fail the others. When the database is unavailable, all of them fail at once.
 */
export function together<Call, Result>(
  run: (key: string, calls: Call[]) => Promise<Result[]>,
  { atOnce, everyMs = 0 }: Limits,
): (key: string, call: Call) => Promise<Result> {
  const lines = new Map<string, Line<Call, Result>>()

  const runGroup = async (key: string, group: Waiting<Call, Result>[]): Promise<void> => {
    try {
      const results = await run(
        key,
        group.map(({ call }) => call),
      )
      for (const [i, { resolve }] of group.entries()) resolve(results[i] as Result)
    } catch (error) {
      if (group.length === 1 || isUnavailable(error)) for (const { reject } of group) reject(error)
      else await Promise.all(group.map((waiting) => runGroup(key, [waiting])))
    }
  }
  const work = async (key: string, line: Line<Call, Result>): Promise<void> => {
    while (line.waiting.length > 0) {
      const pause = everyMs > 0 ? afterOrFull(everyMs, line) : null
      await atMost(SLOW_MS, runGroup(key, line.waiting.splice(0, atOnce)))
      await pause
    }
    lines.delete(key)
  }
  const afterOrFull = (ms: number, line: Line<Call, Result>): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
      line.onFull = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  return (key, call) =>
    new Promise((resolve, reject) => {
      const waiting = { call, resolve, reject }
      const line = lines.get(key)
      if (line) {
        line.waiting.push(waiting)
        if (line.waiting.length >= atOnce) line.onFull()
        return
      }
      const first = { waiting: [waiting], onFull: () => {} }
      lines.set(key, first)
      void work(key, first)
    })
}

function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
