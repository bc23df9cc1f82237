import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { BadCaseFile, readCases } from '../../conversations/playground/answer-tests/cases/case-files.ts'
import { casesToRun, copyOf } from '../../conversations/playground/answer-tests/cases/cases.ts'
import { compareRuns, isFall } from '../../conversations/playground/answer-tests/compare-runs.ts'
import { reviewedResults } from '../../conversations/playground/answer-tests/judging/reviews.ts'
import {
  presentRun,
  requireRun,
  resultsOf,
  runBefore,
  startRun,
} from '../../conversations/playground/answer-tests/runs.ts'
import type {
  AnswerComparison,
  AnswerRun,
  CaseOfRun,
} from '../../conversations/playground/answer-tests/schema.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { messageOf } from '../../platform/unknown-values.ts'
import { CommandFailure, type Input, type Operations, usageFailure } from '../command.ts'
import { findAccount, type findAgent } from './find-account.ts'

type Run = Static<typeof AnswerRun>

type Comparison = Static<typeof AnswerComparison>

export type AnswersTested = { run: Run; comparison: Comparison | null; isEnough: boolean; isJunit: boolean }

const POLL_MS = 500
const VERSIONS = ['live', 'draft'] as const

/**
 * Starts a run in the running service and waits for its end. It is not enough if it did not come to its end, if too few
 * tests passed, or if it is worse than the run to compare with by more than chance.
 */
export async function testAnswers(
  { db, isServed, openModels, erasing }: Operations,
  agent: Awaited<ReturnType<typeof findAgent>>,
  { values, positionals: [file] }: Input,
): Promise<AnswersTested> {
  const ref: AgentRef = { accountId: agent.account_id, agentId: agent.id }
  const repeats = numberOf(
    values.repeats ?? '1',
    '--repeats',
    (n) => Number.isInteger(n) && n >= 1 && n <= 10,
  )
  const atLeast = numberOf(values['at-least'] ?? '1', '--at-least', (n) => n >= 0 && n <= 1)
  const version = VERSIONS.find((one) => one === (values.version ?? 'live'))
  if (!version) throw usageFailure(`--version cannot be "${values.version}".`)
  const cases = file === undefined ? await storedCases(db, ref) : await casesIn(file)
  if (cases.length === 0) throw new CommandFailure('There is no case: name a file, or add some to the agent.')
  if (!(await isServed())) throw new CommandFailure('Start the service first: it is what answers.', 69)
  const { plan } = await findAccount(db, ref.accountId)
  const [maxCredits, maxDollars] = [limitOf(values, 'max-credits'), limitOf(values, 'max-dollars')]
  const settings = {
    repeats,
    judges: Boolean(values.judges),
    version,
    note: file === undefined ? 'From the command line' : 'From a file',
    ...(values.model === undefined ? {} : { model: values.model }),
    ...(maxCredits === undefined ? {} : { maxCredits }),
    ...(maxDollars === undefined ? {} : { maxDollars }),
  }
  // A mistyped id is noticed before the tests have cost anything.
  if (values.compare !== undefined && values.compare !== 'last') await earlierRun(db, ref, values.compare)
  const needs = { jobs: erasing.jobs, models: openModels().models }
  const id = await transact(db, (trx) => startRun(trx, needs, { ref, plan }, cases, settings))
  for (;;) {
    const row = await requireRun(db, ref, id)
    const run = presentRun(row)
    if (run.status !== 'running') {
      const results = await reviewedResults(db, ref, id)
      const earlier =
        values.compare === undefined
          ? null
          : values.compare === 'last'
            ? await runBefore(db, ref, row).catch(() => null)
            : await earlierRun(db, ref, values.compare)
      const comparison = earlier && compareRuns(await resultsOf(db, ref, earlier.id), results)
      const isEnough =
        run.status === 'finished' &&
        run.passed >= atLeast * run.total &&
        !(comparison !== null && isFall(comparison))
      return { run: { ...run, results }, comparison, isEnough, isJunit: Boolean(values.junit) }
    }
    await wait(POLL_MS)
  }
}

async function earlierRun(db: Operations['db'], ref: AgentRef, id: string) {
  return requireRun(db, ref, id).catch((error: unknown) => {
    if (error instanceof ApiError) throw usageFailure(`The agent has no run ${id} to compare with.`)
    throw error
  })
}

const limitOf = (values: Input['values'], option: 'max-credits' | 'max-dollars'): number | undefined =>
  values[option] === undefined
    ? undefined
    : numberOf(
        values[option],
        `--${option}`,
        (n) => n > 0 && n <= 1_000_000 && (option === 'max-dollars' || Number.isInteger(n)),
      )

function numberOf(text: string, option: string, fits: (n: number) => boolean): number {
  const value = Number(text)
  if (text.trim() === '' || !fits(value)) throw usageFailure(`${option} cannot be "${text}".`)
  return value
}

async function storedCases(db: Operations['db'], ref: AgentRef): Promise<CaseOfRun[]> {
  const rows = await casesToRun(db, ref, undefined)
  return rows.map(copyOf)
}

async function casesIn(file: string): Promise<CaseOfRun[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw usageFailure(messageOf(error))
  })
  try {
    const cases = readCases(text, /\.csv$/i.test(file) ? 'csv' : 'json')
    return cases.map(({ conversationId, ...one }, at) => ({
      id: `${at + 1}`,
      ...one,
      ...(conversationId ? { conversationId } : {}),
    }))
  } catch (error) {
    throw error instanceof BadCaseFile ? usageFailure(`${file}: ${error.message}`) : error
  }
}

const failuresOf = ({ error, checks }: Run['results'][number]): string[] =>
  error !== null
    ? [error]
    : checks
        .filter(({ passed }) => passed !== true)
        .map(({ kind, expected, reason }) => `${kind}: ${expected}${reason === null ? '' : ` (${reason})`}`)

/** Returns what people read: the figures, each test that has not passed, and what became of the run before. */
export function linesOf({ run, comparison }: AnswersTested): string {
  const unknown = run.done - run.passed - run.failed
  const cost = run.dollars === null ? '' : `, $${run.dollars.toFixed(4)}`
  const changed = (comparison?.cases ?? []).filter(({ before, after }) => before !== after)
  return [
    `${run.passed} of ${run.total} tests passed (${run.status}); ${run.credits} credits' worth, not charged${cost}`,
    ...(run.problem === null ? [] : [run.problem]),
    ...(unknown > 0 ? [`${unknown} not decided, because nobody could tell`] : []),
    ...run.results
      .filter(({ passed }) => passed !== true)
      .flatMap((result) => [
        `${result.passed === null ? 'not decided' : 'failed'}: ${result.name}`,
        ...failuresOf(result).map((line) => `  ${line}`),
        `  answer: ${result.messages.at(-1)?.text ?? ''}`,
      ]),
    ...(comparison ? [comparison.conclusion] : []),
    ...changed.map(
      ({ name, before, after }) => `  ${name}: ${percent(before)} before, ${percent(after)} now`,
    ),
    `run ${run.id}`,
  ].join('\n')
}

const percent = (share: number): string => `${Math.round(share * 100)} %`

/** Returns the results in the format of JUnit, which services for continuous integration read. */
export function junitOf({ run, comparison, isEnough }: AnswersTested): string {
  const tests = run.results.map((result) => {
    const message = escaped(failuresOf(result).join('; '))
    const answer = escaped(result.messages.at(-1)?.text ?? '')
    const tag = result.passed === null ? 'error' : 'failure'
    const failure = result.passed ? '' : `<${tag} message="${message}">${answer}</${tag}>`
    return testCase(`${result.name} #${result.repetition}`, result.ms, failure)
  })
  const share = `${run.passed} of ${run.total} passed (${run.status}).`
  const whole = [share, run.problem, comparison?.conclusion]
    .filter((text) => typeof text === 'string')
    .join(' ')
  if (!isEnough) tests.push(testCase('The whole run', 0, `<failure message="${escaped(whole)}"/>`))
  const unknown = run.results.filter(({ passed }) => passed === null).length
  const failures = run.results.filter(({ passed }) => passed === false).length + (isEnough ? 0 : 1)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="answers" tests="${tests.length}" failures="${failures}" errors="${unknown}">`,
    ...tests,
    '</testsuite>',
  ].join('\n')
}

const testCase = (name: string, ms: number, failure: string): string =>
  `  <testcase name="${escaped(name)}" time="${ms / 1_000}">${failure}</testcase>`

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string =>
  // XML has no place for control characters.
  text.replace(/[^\t\n\r\x20-\u{10FFFF}]/gu, ' ').replace(/[&<>"]/g, (found) => ESCAPES[found] ?? found)
