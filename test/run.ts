import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'
import { preparePostgres } from './postgres.ts'

/**
 * `npm test`: the whole suite on the embedded database, and what touches the database again on PostgreSQL, when one is
 * there or can be installed. Ends with one line: N passed, N failed.
 */
const root = resolve(import.meta.dirname, '..')
process.chdir(root)

/** Compiled code is kept for the many processes that the tests start. */
process.env.NODE_COMPILE_CACHE = join(tmpdir(), 'parley-test-code')

/** The durations of the last run on this machine, or the list in this folder if there was none. */
const timesFile = join(tmpdir(), 'parley-test-seconds.json')

const lastTimes: Record<string, Record<string, number>> = JSON.parse(
  readFileSync(existsSync(timesFile) ? timesFile : join(root, 'test', 'seconds.json'), 'utf8'),
)

type Suite = {
  title: string
  files: string[]
  env: NodeJS.ProcessEnv
  /** For the Node of each file. */
  flags: string[]
  passed: number
  failed: number
  skipped: number
  /** The duration of each file. */
  seconds: Record<string, number>
}

const isJourney = (file: string): boolean => file.startsWith(join('test', 'journeys'))

function testFiles(): string[] {
  return ['server', 'client', 'widget', 'test']
    .flatMap((folder) => {
      try {
        return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
          join(folder, name),
        )
      } catch {
        return []
      }
    })
    .filter((name) => name.endsWith('.test.ts'))
}

const suiteOf = (
  title: string,
  files: string[],
  { env, flags = [] }: { env: NodeJS.ProcessEnv; flags?: string[] },
): Suite => ({ title, files, env, flags, passed: 0, failed: 0, skipped: 0, seconds: {} })

/** Files of a suite that run in one process. */
type Batch = { suite: Suite; files: string[] }

/** The longest begin first, so that none of them is left running alone at the end. */
const longestFirst = (suite: Suite): string[] =>
  suite.files.toSorted((a, b) => secondsOf(suite, b) - secondsOf(suite, a))

const secondsOf = (suite: Suite, file: string): number => lastTimes[kindOf(suite)]?.[file] ?? DEFAULT_SECONDS

/** The assumed duration of a file that is in no list. */
const DEFAULT_SECONDS = 2
/** The title without the version. */
const kindOf = ({ title }: Suite): string => title.split(' ')[0] ?? title

const weightOf = ({ suite, files }: Batch): number =>
  files.reduce((sum, file) => sum + secondsOf(suite, file), 0)

/** Runs some files in one process, and adds what came of them to the suite. */
async function runBatch({ suite, files }: Batch): Promise<void> {
  const written: string[] = []
  const ended = new Set<string>()
  const events = run({
    files: [join(root, 'test', 'batch.ts')],
    argv: files.map((file) => resolve(root, file)),
    timeout: 900_000,
    execArgv: suite.flags,
    env: { ...process.env, ...suite.env },
  })
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') written.push(data.message)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const isFile = data.nesting === 0 && files.includes(relative(root, data.name))
    if (isFile) {
      ended.add(relative(root, data.name))
      suite.seconds[relative(root, data.name)] = Math.round(data.details.duration_ms) / 1_000
    }
    if (type === 'test:fail') {
      const file = relative(root, isFile ? data.name : (data.file ?? ''))
      report(suite, file, data.name, data.details.error, isFile ? written.join('').slice(-5_000) : '')
      // A file that fails because of a test in it is not counted besides.
      if (!isFile || data.details.error.failureType !== 'subtestsFailed') suite.failed++
    } else if (data.details.type === 'suite') continue
    else if (data.skip !== undefined) suite.skipped++
    else {
      process.stdout.write('.')
      suite.passed++
    }
  }
  for (const file of files.filter((one) => !ended.has(one)))
    report(
      suite,
      file,
      'did not end',
      new Error('Its process ended before it.'),
      written.join('').slice(-5_000),
    )
}

const failures: string[] = []

function report({ title }: Suite, file: string, name: string, error: Error, output: string): void {
  // Told at once as well: whoever watches the run need not wait for its end.
  process.stdout.write(`\nX ${file} (${title}): ${name}\n`)
  const cause = inspect(error.cause ?? error, { breakLength: 120 })
  failures.push(`${file} (${title}): ${name}\n${cause.slice(0, 20_000)}\n${output}`)
}

/** Both suites at once: their journeys mostly wait, and the other files mostly work. */
async function runSuites(suites: Suite[]): Promise<void> {
  const all = suites.flatMap((suite) => {
    const files = longestFirst(suite)
    const others = inBatches(files.filter((file) => !isJourney(file)))
    return [...files.filter(isJourney).map((file) => [file]), ...others].map((batch) => ({
      suite,
      files: batch,
    }))
  })
  const isAlone = ({ files }: Batch): boolean => files.some((file) => ALONE.includes(file))
  for (const batch of all.filter(isAlone)) await runBatch(batch)
  const waiting = all.filter((batch) => !isAlone(batch)).sort((a, b) => weightOf(b) - weightOf(a))
  let journeys = 0
  const worker = async (): Promise<void> => {
    for (let batch = next(); batch; batch = next()) {
      const isOne = isJourneyBatch(batch)
      if (isOne) journeys++
      await runBatch(batch)
      if (isOne) journeys--
    }
  }
  const next = (): Batch | undefined => {
    // Journeys test faults and deadlines, so only a few may run at the same time.
    const at = waiting.findIndex((batch) => isJourneyBatch(batch) === journeys < JOURNEYS_AT_ONCE)
    return waiting.splice(Math.max(at, 0), 1)[0]
  }
  await Promise.all(Array.from({ length: Math.min(6, availableParallelism() + 2) }, worker))
}

/** Tests with deadlines that only an otherwise idle machine can meet. */
const ALONE = [join('test', 'journeys', 'kill-chat.test.ts')]
const JOURNEYS_AT_ONCE = 2
const isJourneyBatch = ({ files }: Batch): boolean => files.some(isJourney)

/** The most files that share a process: what they leave behind in its memory adds up. */
const BATCH = 8

/** The long ones apart from each other: each batch takes about as long as the others. */
function inBatches(longestFirst: string[]): string[][] {
  const count = Math.ceil(longestFirst.length / BATCH)
  return Array.from({ length: count }, (_, at) => longestFirst.filter((_, i) => i % count === at))
}

function reportTimes(suites: Suite[]): void {
  for (const suite of suites) lastTimes[kindOf(suite)] = { ...lastTimes[kindOf(suite)], ...suite.seconds }
  writeFileSync(timesFile, JSON.stringify(lastTimes))
  const slowest = suites
    .flatMap(({ title, seconds }) => Object.entries(seconds).map(([file, s]) => ({ file, title, s })))
    .sort((a, b) => b.s - a.s)
    .slice(0, 25)
  console.log('\n\nThe slowest files, in seconds:')
  for (const { file, title, s } of slowest) console.log(`${s.toFixed(1).padStart(7)}  ${file} (${title})`)
  console.log(`${Math.round(process.uptime())} s, ${Math.round(processorTime())} s of processor time`)
}

/** Of all processes that have ended, in seconds; 0 where the system does not say. */
function processorTime(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const ticks = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13, 15) ?? []
  return ticks.reduce((sum, one) => sum + Number(one), 0) / 100
}

const files = process.argv.length > 2 ? process.argv.slice(2) : testFiles()
const postgres = await preparePostgres()
const embedded = suiteOf('embedded database', files, {
  env: { TEST_DATABASE_URL: undefined },
  // The embedded database is WebAssembly: most files are done before better code for it would pay.
  flags: ['--liftoff-only'],
})
const suites = [embedded]
if (postgres.url !== null) {
  // What opens no database, or is about the browser that reads a page or the description of the API, cannot behave
  // differently on the other one.
  const touching = files.filter(
    (file) =>
      !/^server\/(text|fetch|models|pages\/openapi|knowledge\/(retrieval|extract|chunk|crawl\/built-site))\b/.test(
        file,
      ) &&
      !/^client\/(?!real-service)|^widget\/|^test\/(pages|retrieval-corpus|journeys\/widget-)/.test(file),
  )
  const env = { TEST_DATABASE_URL: postgres.url }
  suites.push(suiteOf(`PostgreSQL ${postgres.version}`, touching, { env }))
}
await runSuites(suites)
if (postgres.url === null) console.log(`\nSKIPPED: the suite on PostgreSQL. ${postgres.reason}`)
else {
  const deadlocks = await postgres.deadlocks()
  if (deadlocks.length > 0) {
    embedded.failed++
    failures.push(`${deadlocks.length} deadlocks in PostgreSQL's log\n${deadlocks.slice(0, 10).join('\n\n')}`)
  }
  await postgres.stop()
}
for (const failure of failures) console.log(`\n\nFAILED: ${failure}`)
reportTimes(suites)
for (const { title, passed, failed, skipped } of suites)
  console.log(`${title}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
const total = (what: 'passed' | 'failed'): number => suites.reduce((sum, suite) => sum + suite[what], 0)
const failed = Math.max(total('failed'), Math.min(1, failures.length))
console.log(`\n${total('passed')} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
