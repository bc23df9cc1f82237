import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'
import { installPackages } from './debian-packages.ts'
import { findBrowser, hasHeadlessShell } from './find-browser.ts'
import { hasDovecot } from './imap-server.ts'
import { keptFolder, moveIntoMemory } from './memory-folder.ts'
import { opensDatabase } from './opens-database.ts'
import { preparePostgres } from './postgres.ts'
import { findBinaries } from './postgres-cluster.ts'

/**
 * `npm test` runs the whole suite on the embedded database, and the tests that use the database again on PostgreSQL
 * if it is installed. As root on Debian, the programs that tests need are installed first. The output ends with one
 * line: N passed, N failed.
 */
const root = resolve(import.meta.dirname, '..')
process.chdir(root)
moveIntoMemory()

/** Compiled code is cached for the many processes that the tests start. */
process.env.NODE_COMPILE_CACHE = join(keptFolder(), 'parley-test-code')

/** The file with the durations of the last run on this machine. If there was none, the list in this folder is used. */
const timesFile = join(keptFolder(), 'parley-test-seconds.json')

const lastTimes: Record<string, Record<string, number>> = JSON.parse(
  readFileSync(existsSync(timesFile) ? timesFile : join(root, 'test', 'seconds.json'), 'utf8'),
)

type Suite = {
  title: string
  files: string[]
  env: NodeJS.ProcessEnv
  results: Map<string, Result>
}

/** The result of one file. */
type Result = { passed: number; failed: number; skipped: number; seconds: number; failures: string[] }

const noResult = (): Result => ({ passed: 0, failed: 0, skipped: 0, seconds: 0, failures: [] })

/** Journeys, and the test of a database that goes away, which has deadlines like theirs. */
const isJourney = (file: string): boolean =>
  file.startsWith(join('test', 'journeys')) ||
  file === join('server', 'db', 'connections', 'availability.test.ts')

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

const suiteOf = (title: string, files: string[], { env }: { env: NodeJS.ProcessEnv }): Suite => ({
  title,
  files,
  env,
  results: new Map(),
})

/** The files of a suite that run in one process. */
type Batch = { suite: Suite; files: string[] }

/** Sorts the longest files first, so that none of them is left running alone at the end. */
const longestFirst = (suite: Suite): string[] =>
  suite.files.toSorted((a, b) => secondsOf(suite, b) - secondsOf(suite, a))

const secondsOf = (suite: Suite, file: string): number => lastTimes[kindOf(suite)]?.[file] ?? DEFAULT_SECONDS

/** The assumed duration, in seconds, of a file that is in no list. */
const DEFAULT_SECONDS = 2
/** Returns the title of a suite without the version. */
const kindOf = ({ title }: Suite): string => title.split(' ')[0] ?? title

const weightOf = ({ suite, files }: Batch): number =>
  files.reduce((sum, file) => sum + secondsOf(suite, file), 0)

/**
 * Runs some files in one process, one after another. The result of each file replaces its previous one. If the process
 * ends before all files have, the file that was running has failed, and the files after it are returned.
 */
async function runBatch({ suite, files }: Batch): Promise<string[]> {
  const written: string[] = []
  const output = (): string => written.join('').slice(-5_000)
  const events = run({
    files: [join(root, 'test', 'batch.ts')],
    argv: files.map((file) => resolve(root, file)),
    // With many embedded databases in one process, V8 has crashed while it freed their compiled code.
    execArgv: ['--no-wasm-code-gc'],
    timeout: 900_000,
    env: { ...process.env, ...suite.env, TEST_NICENESS: files.some(isJourney) ? '0' : '10' },
  })
  for (const file of files) suite.results.delete(file)
  // The events of a file's tests arrive before the event of the file itself.
  let result = noResult()
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') written.push(data.message)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const file = relative(root, data.name)
    // The process that runs the files is no test.
    if (file === join('test', 'batch.ts')) continue
    const isFile = data.nesting === 0 && files.includes(file)
    if (type === 'test:fail') {
      const error = data.details.error
      // A file that failed because of a test in it is not counted as a failure of its own.
      if (!isFile || error.failureType !== 'subtestsFailed') {
        result.failed++
        const place = isFile ? file : relative(root, data.file ?? '')
        result.failures.push(failureOf(suite, place, data.name, error, isFile ? output() : ''))
      }
    } else if (!isFile && data.details.type !== 'suite') {
      if (data.skip !== undefined) result.skipped++
      else {
        process.stdout.write('.')
        result.passed++
      }
    }
    if (!isFile) continue
    suite.results.set(file, { ...result, seconds: Math.round(data.details.duration_ms) / 1_000 })
    result = noResult()
  }
  const [running, ...others] = files.filter((file) => !suite.results.has(file))
  if (running === undefined) return []
  const failure = failureOf(
    suite,
    running,
    'did not end',
    new Error('Its process ended before it.'),
    output(),
  )
  suite.results.set(running, {
    ...result,
    failed: result.failed + 1,
    failures: [...result.failures, failure],
  })
  return others
}

/** Prints a failure at once, for anyone who watches the run, and returns its report. */
function failureOf({ title }: Suite, file: string, name: string, error: Error, output: string): string {
  process.stdout.write(`\nX ${file} (${title}): ${name}\n`)
  const cause = inspect(error.cause ?? error, { breakLength: 120 })
  return `${file} (${title}): ${name}\n${cause.slice(0, 20_000)}\n${output}`
}

/**
 * Runs both suites at once. The journeys mostly wait, and the other files, at a lower priority, use the processor time
 * that they leave.
 */
async function runSuites(suites: Suite[]): Promise<void> {
  const all = suites.flatMap((suite) => {
    const files = longestFirst(suite)
    const others = files.filter((file) => !isJourney(file))
    const journeys = files.filter((file) => isJourney(file) && file !== ONLY_JOURNEY)
    const only = files.filter((file) => file === ONLY_JOURNEY).map((file) => [file])
    const batches = [...only, ...inBatches(journeys, JOURNEYS), ...inBatches(others, BATCH)]
    return batches.map((batch) => ({ suite, files: batch }))
  })
  const waiting = all.sort((a, b) => placesOf(b) - placesOf(a) || weightOf(b) - weightOf(a))
  let free = JOURNEYS_AT_ONCE
  const worker = async (): Promise<void> => {
    for (let batch = next(); batch; batch = next()) {
      free -= placesOf(batch)
      const left = await runBatch(batch)
      free += placesOf(batch)
      if (left.length > 0) waiting.unshift({ suite: batch.suite, files: left })
    }
  }
  const next = (): Batch | undefined => {
    const journey = waiting.findIndex((batch) => isJourneyBatch(batch) && placesOf(batch) <= free)
    const at = journey < 0 ? waiting.findIndex((batch) => !isJourneyBatch(batch)) : journey
    return at < 0 ? undefined : waiting.splice(at, 1)[0]
  }
  await Promise.all(Array.from({ length: Math.min(9, availableParallelism() + 5) }, worker))
}

/** Journeys test faults and deadlines, so only a few run at the same time. */
const JOURNEYS_AT_ONCE = 2
/** The journey with deadlines that it can only meet without other journeys beside it. */
const ONLY_JOURNEY = join('test', 'journeys', 'kill-chat.test.ts')
const isJourneyBatch = ({ files }: Batch): boolean => files.some(isJourney)

/** Returns how many of the places for journeys a batch takes. */
const placesOf = (batch: Batch): number => {
  if (!isJourneyBatch(batch)) return 0
  return batch.files.includes(ONLY_JOURNEY) ? JOURNEYS_AT_ONCE : 1
}

/**
 * The maximum number of files per process. Each process takes seconds of processor time until its code is loaded and
 * optimized, but the memory that files leave behind adds up.
 */
const BATCH = 28
/** The maximum number of journeys per process. A journey takes much longer than most files. */
const JOURNEYS = 4

/** Distributes the files so that each batch takes about as long as the others. */
function inBatches(longestFirst: string[], most: number): string[][] {
  const count = Math.ceil(longestFirst.length / most)
  return Array.from({ length: count }, (_, at) => longestFirst.filter((_, i) => i % count === at))
}

/** If more files than this fail, a busy machine is not the reason, and none is repeated. */
const MOST_REPEATED = 5

/**
 * Runs the files that failed once more, one after another on an otherwise idle machine, and returns the reports of
 * those failures that did not come again. They are printed, because a test that passes only now and then has found
 * either a fault or a deadline that a busy machine cannot meet.
 */
async function repeatFailed(suites: Suite[]): Promise<string[]> {
  const failed = suites.flatMap((suite) =>
    [...suite.results]
      .filter(([, { failed }]) => failed > 0)
      .map(([file, result]) => ({ suite, file, result })),
  )
  if (failed.length > MOST_REPEATED) return []
  const unsteady: string[] = []
  for (const { suite, file, result } of failed) {
    await runBatch({ suite, files: [file] })
    if (suite.results.get(file)?.failed === 0) unsteady.push(...result.failures)
  }
  return unsteady
}

function reportTimes(suites: Suite[]): void {
  for (const suite of suites) {
    const seconds = [...suite.results].map(([file, { seconds }]) => [file, seconds] as const)
    lastTimes[kindOf(suite)] = { ...lastTimes[kindOf(suite)], ...Object.fromEntries(seconds) }
  }
  writeFileSync(timesFile, JSON.stringify(lastTimes))
  const slowest = suites
    .flatMap(({ title, results }) => [...results].map(([file, { seconds }]) => ({ file, title, s: seconds })))
    .sort((a, b) => b.s - a.s)
    .slice(0, 25)
  console.log('\n\nThe slowest files, in seconds:')
  for (const { file, title, s } of slowest) console.log(`${s.toFixed(1).padStart(7)}  ${file} (${title})`)
  console.log(`${Math.round(process.uptime())} s, ${Math.round(processorTime())} s of processor time`)
}

/** Returns the processor time of all ended child processes in seconds, or 0 if the system does not report it. */
function processorTime(): number {
  if (!existsSync('/proc/self/stat')) return 0
  const ticks = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ').slice(13, 15) ?? []
  return ticks.reduce((sum, one) => sum + Number(one), 0) / 100
}

const files = process.argv.length > 2 ? process.argv.slice(2) : testFiles()
installPackages([
  ...(process.env.TEST_DATABASE_URL || findBinaries() ? [] : ['postgresql']),
  ...(hasHeadlessShell() ? [] : ['chromium-headless-shell']),
  ...(hasDovecot() ? [] : ['dovecot-imapd']),
])
// Older releases of Debian have no package of the headless shell alone.
if (!findBrowser()) installPackages(['chromium'])
const postgres = await preparePostgres()
const embedded = suiteOf('embedded database', files, { env: { TEST_DATABASE_URL: undefined } })
const suites = [embedded]
if (postgres.url !== null) {
  // What concerns only a browser, or a model's wire, cannot behave differently on PostgreSQL.
  const untouched = [
    /^server\/(models|knowledge\/(extract|crawl\/pages\/built-site))\b/,
    /^test\/journeys\/widget-/,
  ]
  const touching = files.filter((file) => opensDatabase(file) && !untouched.some((one) => one.test(file)))
  const env = { TEST_DATABASE_URL: postgres.url }
  suites.push(suiteOf(`PostgreSQL ${postgres.version}`, touching, { env }))
}
await runSuites(suites)
const unsteady = await repeatFailed(suites)
const count = (some: Suite[], what: 'passed' | 'failed' | 'skipped'): number =>
  some.flatMap(({ results }) => [...results.values()]).reduce((sum, result) => sum + result[what], 0)
const failures = suites.flatMap(({ results }) => [...results.values()].flatMap((result) => result.failures))
let failed = count(suites, 'failed')
if (postgres.url === null) console.log(`\nSKIPPED: the suite on PostgreSQL. ${postgres.reason}`)
else {
  const deadlocks = await postgres.deadlocks()
  if (deadlocks.length > 0) {
    failed++
    failures.push(`${deadlocks.length} deadlocks in PostgreSQL's log\n${deadlocks.slice(0, 10).join('\n\n')}`)
  }
  await postgres.stop()
}
for (const report of unsteady)
  console.log(`\n\nUNSTEADY, failed beside the others and passed alone: ${report}`)
for (const failure of failures) console.log(`\n\nFAILED: ${failure}`)
reportTimes(suites)
for (const suite of suites) {
  const [passed, failed, skipped] = (['passed', 'failed', 'skipped'] as const).map((what) =>
    count([suite], what),
  )
  console.log(`${suite.title}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
}
if (unsteady.length > 0) console.log(`${unsteady.length} failures did not come again; see UNSTEADY above`)
console.log(`\n${count(suites, 'passed')} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
