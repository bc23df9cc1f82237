import { availableParallelism, cpus } from 'node:os'
import { NASTIES } from '../test/hostile/nasties.ts'
import { TEXT_FUNCTIONS } from '../test/hostile/text-functions.ts'

const MEGABYTE = 1024 * 1024
/**
 * The length of the texts for functions that run in a thread of their own. They are terminated when they take too
 * long, and a shorter text suffices to show how their time grows.
 */
const MAX_APART = 128 * 1024
/** A function that exceeds this time is not measured with longer texts. */
const GIVE_UP_MS = 1_000
/** The budget on the serving thread for one text. */
const ALLOWED_MS = 100

export type TextResult = {
  scenario: 'text'
  function: string
  characters: number
  thread: 'serving' | 'its own'
  /** The time for the slowest of all hostile texts. `slowest` is the name of that text. */
  slowestMs: number
  slowest: string
  over: string[]
}

/** Runs every function that takes text from outside on every hostile text, up to the longest that it accepts. */
export async function* textScenario(only = ''): AsyncIterable<TextResult> {
  for (const [name, { run, apart = false, most = apart ? MAX_APART : MEGABYTE }] of Object.entries(
    TEXT_FUNCTIONS,
  )) {
    if (!name.toLowerCase().includes(only.toLowerCase())) continue
    const over: string[] = []
    let slowestMs = 0
    let slowest = ''
    await run('A text to begin with.')
    for (const [nasty, make] of Object.entries(NASTIES)) {
      const ms = await longestOf(apart ? totalOf : heldOf, run, make, most)
      if (ms.ms > slowestMs) [slowestMs, slowest] = [ms.ms, nasty]
      if (ms.ms > ALLOWED_MS) over.push(`${nasty}: ${Math.round(ms.ms)} ms for ${ms.size}`)
    }
    yield {
      scenario: 'text',
      function: name,
      characters: most,
      thread: apart ? 'its own' : 'serving',
      slowestMs: Math.round(slowestMs * 10) / 10,
      slowest,
      over,
    }
  }
}

type Clock = (run: (text: string) => unknown, text: string) => Promise<number>

async function longestOf(
  timeOf: Clock,
  run: (text: string) => unknown,
  make: (size: number) => string,
  most: number,
): Promise<{ ms: number; size: number }> {
  for (let size = Math.min(most, 4_096); ; size = Math.min(most, size * 4)) {
    const text = make(size)
    const ms = await timeOf(run, text)
    // The function is measured a second time, because the first time may include compilation and garbage collection.
    const again = ms > ALLOWED_MS && ms < GIVE_UP_MS ? await timeOf(run, text) : ms
    if (size === most || ms > GIVE_UP_MS) return { ms: Math.min(ms, again), size }
  }
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

async function totalOf(run: (text: string) => unknown, text: string): Promise<number> {
  const since = cpuMs()
  await run(text)
  return cpuMs() - since
}

/** Returns the longest time for which the event loop was blocked. Some functions yield to other work in between. */
async function heldOf(run: (text: string) => unknown, text: string): Promise<number> {
  let isOver = false
  let longest = 0
  let since = cpuMs()
  const look = (): void => {
    const now = cpuMs()
    longest = Math.max(longest, now - since)
    since = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await run(text)
  isOver = true
  return Math.max(longest, cpuMs() - since)
}

/** Writes bench/results/text.md. */
export function textReport(results: TextResult[]): string {
  const rows = results.map(({ function: name, characters, thread, slowestMs, slowest, over }) => {
    const most = over.length > 0 ? ` (${over.length} over ${ALLOWED_MS} ms)` : ''
    const shown = slowest.replaceAll('|', '\\|').replaceAll('`', '\u02cb').replaceAll('\n', ' ')
    return `| ${name} | ${characters.toLocaleString('en')} | ${thread} | ${slowestMs}${most} | ${shown} |`
  })
  return `# Functions that take text from outside

${new Date().toISOString()}, ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.version}; \`npm run bench text\`.
Each on ${Object.keys(NASTIES).length} hostile texts of as many characters as it is ever given, 1 MB where nothing bounds
them: processor time of the slowest, on the serving thread of the longest stretch in which nothing else runs. Wanted:
under ${ALLOWED_MS} ms there. What runs apart has limits of its own and is measured with ${MAX_APART.toLocaleString('en')} characters; the chat in the browser is the visitor's own.

| function | characters | thread | ms | slowest text |
| - | - | - | - | - |
${rows.join('\n')}
`
}
