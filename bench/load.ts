import { Pool } from 'undici'

export type Request = {
  path: string
  method?: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
}
export type Figures = {
  count: number
  seconds: number
  perSecond: number
  firstMs: { p50: number; p95: number; p99: number }
  totalMs: { p50: number; p95: number; p99: number }
  failed: number
}

/**
 * Sends `count` requests, `concurrency` at once, over kept connections, and reads each answer to its end.
 * `first` is the time to the first piece that matches `mark` (the first token).
 */
export async function load(
  origin: string,
  {
    concurrency,
    count,
    make,
    mark,
    end,
  }: { concurrency: number; count: number; make(i: number): Request; mark: string; end: string },
): Promise<Figures> {
  const pool = new Pool(origin, { connections: concurrency })
  const firsts: number[] = []
  const totals: number[] = []
  let failed = 0
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const { path, method = 'POST', headers, body = null } = make(next++)
      const begun = performance.now()
      let first = 0
      let text = ''
      const response = await pool.request({ path, method, headers, body })
      for await (const piece of response.body) {
        text += (piece as Buffer).toString('latin1')
        if (first === 0 && text.includes(mark)) first = performance.now() - begun
      }
      if (response.statusCode !== 200 || !text.includes(end)) failed++
      firsts.push(first)
      totals.push(performance.now() - begun)
    }
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: concurrency }, worker))
  const seconds = (performance.now() - begun) / 1000
  await pool.close()
  return {
    count,
    seconds: round(seconds),
    perSecond: round(count / seconds),
    firstMs: percentiles(firsts),
    totalMs: percentiles(totals),
    failed,
  }
}

export function percentiles(values: number[]): { p50: number; p95: number; p99: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export const round = (value: number): number => Math.round(value * 100) / 100
