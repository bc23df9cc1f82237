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
    .sort()
}

/**
 * The journeys start processes and mostly wait for them: they run two by two beside the others, so that none of them
 * is left running alone at the end.
 */
async function runSuite(title: string, files: string[], env: NodeJS.ProcessEnv): Promise<Counts> {
  console.log(`\n== ${title}: ${files.length} files ==`)
  const [journeys, others] = await Promise.all([
    runFiles(files.filter(isJourney), 2, env),
    runFiles(
      files.filter((file) => !isJourney(file)),
      Math.min(4, availableParallelism() + 1),
      env,
    ),
  ])
  const sum = {
    passed: journeys.passed + others.passed,
    failed: journeys.failed + others.failed,
    skipped: journeys.skipped + others.skipped,
  }
  console.log(`${title}: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`)
  return sum
}

function runFiles(files: string[], atOnce: number, env: NodeJS.ProcessEnv): Promise<Counts> {
  if (files.length === 0) return Promise.resolve({ passed: 0, failed: 0, skipped: 0 })
  const args = [
    '--test',
    `--test-concurrency=${atOnce}`,
    '--test-timeout=900000',
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
  // What opens no database, or is about the browser that reads a page, cannot behave differently on the other one.
  const touching = files.filter(
    (file) =>
      !/^server\/(text|fetch|models|knowledge\/(retrieval|extract|chunk|crawl\/built-site))\b/.test(file) &&
      !/^client\/(?!real-service)|^widget\/|^test\/(pages|retrieval-corpus|journeys\/widget-)/.test(file),
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
