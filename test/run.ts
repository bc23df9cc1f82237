import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { preparePostgres } from './postgres.ts'

/**
 * `npm test`: the whole suite on the embedded database, then what touches the database again on PostgreSQL,
 * when one is there or can be installed. Ends with one line: N passed, N failed.
 */
const root = resolve(import.meta.dirname, '..')

/** Compiled code is kept for the many processes that the tests start. */
const compiled = join(tmpdir(), 'parley-test-code')

type Counts = { passed: number; failed: number; skipped: number }

const isJourney = (file: string): boolean => file.startsWith(join('test', 'journeys'))

function testFiles(): string[] {
  return (
    ['server', 'client', 'test']
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
      // The longest first, so that none of them is left running alone at the end.
      .sort((a, b) => Number(isJourney(b)) - Number(isJourney(a)) || (a < b ? -1 : 1))
  )
}

function runSuite(title: string, files: string[], env: NodeJS.ProcessEnv): Promise<Counts> {
  console.log(`\n== ${title}: ${files.length} files ==`)
  const args = [
    '--test',
    // More than there are cores: many tests wait for a clock or a timeout.
    `--test-concurrency=${Math.min(6, availableParallelism() + 2)}`,
    '--test-timeout=300000',
    // What a failed test left open must not hold the run.
    '--test-force-exit',
    '--test-reporter=dot',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    '--test-reporter-destination=stderr',
    ...files,
  ]
  return new Promise((settle) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, NODE_COMPILE_CACHE: compiled, ...env },
      stdio: ['ignore', 'inherit', 'pipe'],
    })
    let report = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      report += text
    })
    child.on('close', (code) => {
      const count = (name: string): number =>
        Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(report)?.[1] ?? 0)
      const counts = {
        passed: count('pass'),
        failed: count('fail') + count('cancelled'),
        skipped: count('skipped'),
      }
      if (code !== 0) {
        console.log(failures(report))
        counts.failed = Math.max(1, counts.failed)
      }
      console.log(`${title}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
      settle(counts)
    })
  })
}

/** The parts of the TAP report that say what failed and why. */
function failures(report: string): string {
  const blocks = report.match(/^ *not ok [\s\S]*?^ *\.\.\.$/gm)
  return blocks ? blocks.join('\n').slice(0, 60_000) : report.slice(-10_000)
}

const files = process.argv.length > 2 ? process.argv.slice(2) : testFiles()
const postgres = await preparePostgres()
const total = await runSuite('embedded database', files, { TEST_DATABASE_URL: undefined })
if (postgres.url !== null) {
  // What never opens a database cannot behave differently on the other one.
  const touching = files.filter(
    (file) =>
      !/^server\/(text|fetch|models|knowledge\/(retrieval|extract|chunk))\//.test(file) &&
      !/^client\/(?!real-service)|^test\/(pages|retrieval-corpus)\//.test(file),
  )
  const counts = await runSuite(`PostgreSQL ${postgres.version}`, touching, {
    TEST_DATABASE_URL: postgres.url,
  })
  total.passed += counts.passed
  total.failed += counts.failed
  total.skipped += counts.skipped
  await postgres.stop()
} else {
  console.log(`\nSKIPPED: the suite on PostgreSQL. ${postgres.reason}`)
}
console.log(`\n${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 ? 1 : 0
