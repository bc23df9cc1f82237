import { existsSync, globSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'
import { findBrowser } from './find-browser.ts'
import { keptFolder, moveIntoMemory } from './memory-folder.ts'
import { preparePostgres } from './postgres.ts'

/**
 * `node test/run.ts unit|daily|all|engines` gives the files of one speed to Node's test runner, and
 * `node test/run.ts FILE…` gives it those files. test/README.md says which speed a file has. The last line is: N
 * passed, N failed.
 */
const root = resolve(import.meta.dirname, '..')
process.chdir(root)
moveIntoMemory()
/** Compiled code is cached for the many processes that the tests start. */
process.env.NODE_COMPILE_CACHE = join(keptFolder(), 'parley-test-code')

const UNIT = '{server,client,widget,test}/**/*.unit.test.ts'
const ENGINES = ['{server,client,widget,test}/**/*.engines.test.ts', 'test/engines/*.test.ts']
const JOURNEYS = 'test/journeys/*.test.ts'
const exclude = [UNIT, ...ENGINES, JOURNEYS]
const service = globSync('{server,client,widget,test}/**/*.test.ts', { exclude })
/** What uses no database, or nothing of it that another one does otherwise, is not run on PostgreSQL, too. */
const onBoth = service.filter((file) => !file.endsWith('.once.test.ts'))
const smokeOf = (files: string[]): string[] => files.filter((file) => file.endsWith('.smoke.test.ts'))

/** Some processor time is spent in the threads of embedded databases, and some tests wait for time-outs. */
const AT_ONCE = availableParallelism() + 2
/** Starting a process and loading the service takes longer than most files take. */
const FILES_OF_PROCESS = 24
/** This many more, so that the last processes can share what is left. */
const SPARE = 4

const FLAGS = [
  // With many embedded databases in one process, V8 has crashed while it freed their compiled code.
  '--no-wasm-code-gc',
  // Most of what a test allocates is garbage soon. Together these save a tenth of the processor time.
  '--max-semi-space-size=64',
  '--single-threaded-gc',
]

const total = { passed: 0, failed: 0, skipped: 0 }

const parts: Record<string, () => Promise<void>> = {
  unit: () => runFiles('unit', together(globSync(UNIT), 35)),
  async daily() {
    await parts.unit?.()
    await besideEmbedded(1, async () => {
      await onPostgres(together(smokeOf(service)), 1)
      await inBrowser(together(smokeOf(globSync(JOURNEYS))), 1)
    })
  },
  async all() {
    // Generated requests are five times as many.
    process.env.TEST_THOROUGH = '1'
    await parts.unit?.()
    const half = Math.ceil(AT_ONCE / 2)
    await besideEmbedded(half, async () => {
      await onPostgres(together(onBoth), half)
      await inBrowser(together(globSync(JOURNEYS)), half)
    })
  },
  async engines() {
    // They have deadlines and start several processes, so each file gets two processors.
    const atOnce = Math.max(1, Math.floor(availableParallelism() / 2))
    await runFiles('embedded database', globSync(ENGINES), { atOnce })
    await onPostgres(globSync(ENGINES), atOnce)
  },
}

const asked = process.argv.slice(2)
const part = parts[asked[0] ?? 'daily']
if (part) await part()
else {
  await runFiles('embedded database', asked)
  await onPostgres(asked)
}
console.log(`\n${total.skipped} skipped, ${Math.round(process.uptime())} s`)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 ? 1 : 0

/**
 * Runs all files on the embedded database, and at the same time `others`, which have so many processes, so that no
 * processor waits for the last files of one part, or for a test that waits for something.
 */
async function besideEmbedded(processes: number, others: () => Promise<void>): Promise<void> {
  const embedded = runFiles('embedded database', together(service), { atOnce: AT_ONCE - processes })
  await Promise.all([embedded, others()])
}

/**
 * Returns programs that run the files one after another. Each takes the next one that no other has taken, the largest
 * first, so that all of them end at about the same time.
 */
function together(files: string[], most = FILES_OF_PROCESS): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'parley-files-'))
  const sorted = files.map((file) => resolve(file)).sort((a, b) => statSync(b).size - statSync(a).size)
  const programs = Math.ceil(files.length / most)
  return Array.from({ length: programs }, (_, at) => {
    const program = join(folder, `${at + 1} of ${programs}.test.mjs`)
    writeFileSync(
      program,
      `import { closeSync, openSync } from 'node:fs'
import { suite } from 'node:test'
import { endLater } from '${new URL('./must-end.ts', import.meta.url)}'
let left = ${most + SPARE}
for (const [at, file] of ${JSON.stringify(sorted)}.entries()) {
  if (left === 0) break
  try {
    closeSync(openSync('${folder}/' + at, 'wx'))
  } catch {
    continue
  }
  left--
  await suite(file, async () => {
    await import(file)
  })
}
endLater()
// Node sometimes hangs while it closes open handles at exit.
process.on('exit', (code) => process.exit(code))
`,
    )
    return program
  })
}

async function onPostgres(files: string[], atOnce = AT_ONCE): Promise<void> {
  const postgres = await preparePostgres()
  if (postgres.url === null) return skip('what runs on PostgreSQL', postgres.reason)
  await runFiles(`PostgreSQL ${postgres.version}`, files, { url: postgres.url, atOnce })
  const deadlocks = await postgres.deadlocks()
  if (deadlocks.length > 0) fail(`deadlocks in PostgreSQL's log: ${deadlocks.slice(0, 10).join('\n\n')}`)
  await postgres.stop()
}

async function inBrowser(files: string[], atOnce: number): Promise<void> {
  if (findBrowser()) return runFiles('in a browser', files, { atOnce })
  skip('journeys', 'No Chromium was found: install it, or set CHROMIUM_PATH.')
}

function skip(what: string, reason: string): void {
  console.log(`\nSKIPPED: ${what}. ${reason}`)
}

function fail(what: string): void {
  total.failed++
  console.log(`\nFAILED: ${what}`)
}

/** Runs each file in a process of its own, and prints failures when they happen and which files took longest. */
async function runFiles(
  title: string,
  files: string[],
  { url, atOnce = AT_ONCE }: { url?: string; atOnce?: number } = {},
): Promise<void> {
  console.log(`\n${title}`)
  const events = run({
    files: files.map((file) => resolve(file)),
    concurrency: atOnce,
    timeout: 900_000,
    execArgv: FLAGS,
    env: { ...process.env, TEST_DATABASE_URL: url },
  })
  const times: { file: string; seconds: number }[] = []
  const written: string[] = []
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') written.push(data.message)
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const isFile = existsSync(data.name)
    if (isFile) times.push({ file: relative(root, data.name), seconds: data.details.duration_ms / 1_000 })
    if (type === 'test:fail') {
      const { error } = data.details
      // What contains a test that failed has not failed by itself.
      if (error.failureType === 'subtestsFailed') continue
      const output = isFile ? written.join('').slice(-5_000) : ''
      fail(
        `${relative(root, data.file ?? '')} (${title}): ${data.name}\n${inspect(error.cause ?? error)}\n${output}`,
      )
    } else if (data.skip !== undefined) total.skipped++
    else if (!isFile && data.details.type !== 'suite') {
      total.passed++
      process.stdout.write('.')
    }
  }
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
  console.log(
    `\n${title}, slowest:\n${slowest.map(({ file, seconds }) => `${seconds.toFixed(1)} ${file}`).join('\n')}`,
  )
}
