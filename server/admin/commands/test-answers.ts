import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { BadCaseFile, readCases } from '../../conversations/playground/answer-tests/cases/case-files.ts'
import { casesToRun, copyOf } from '../../conversations/playground/answer-tests/cases/cases.ts'
import {
  presentRun,
  requireRun,
  resultsOf,
  startRun,
} from '../../conversations/playground/answer-tests/runs.ts'
import type { AnswerRun, CaseOfRun } from '../../conversations/playground/answer-tests/schema.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { messageOf } from '../../platform/unknown-values.ts'
import { CommandFailure, type Input, type Operations, usageFailure } from '../command.ts'
import { findAccount, type findAgent } from './find-account.ts'

type Run = Static<typeof AnswerRun>

export type AnswersTested = { run: Run; isEnough: boolean; isJunit: boolean }

const POLL_MS = 500
const VERSIONS = ['live', 'draft'] as const

/** Starts a run in the running service and waits for its end. */
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
  const settings = {
    repeats,
    judges: Boolean(values.judges),
    version,
    note: file === undefined ? 'From the command line' : 'From a file',
    ...(values.model === undefined ? {} : { model: values.model }),
  }
  const needs = { jobs: erasing.jobs, models: openModels().models }
  const id = await transact(db, (trx) => startRun(trx, needs, { ref, plan }, cases, settings))
  for (;;) {
    const run = presentRun(await requireRun(db, ref, id))
    if (run.status !== 'running') {
      const whole = { ...run, results: await resultsOf(db, ref, id) }
      const isEnough = run.status === 'finished' && run.passed >= atLeast * run.total
      return { run: whole, isEnough, isJunit: Boolean(values.junit) }
    }
    await wait(POLL_MS)
  }
}

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

/** Returns what people read: the figures, and each test that has not passed. */
export function linesOf(run: Run): string {
  const failed = run.results.filter(({ passed }) => !passed)
  return [
    `${run.passed} of ${run.total} tests passed (${run.status}); ${run.credits} credits' worth, not charged`,
    ...failed.flatMap((result) => [
      `failed: ${result.name}`,
      ...failuresOf(result).map((line) => `  ${line}`),
      `  answer: ${result.messages.at(-1)?.text ?? ''}`,
    ]),
  ].join('\n')
}

/** Returns the results in the format of JUnit, which services for continuous integration read. */
export function junitOf(run: Run): string {
  const tests = run.results.map((result) => {
    const failures = failuresOf(result)
    const failure = result.passed
      ? ''
      : `<failure message="${escaped(failures.join('; '))}">${escaped(result.messages.at(-1)?.text ?? '')}</failure>`
    return `  <testcase name="${escaped(`${result.name} #${result.repetition}`)}" time="${result.ms / 1_000}">${failure}</testcase>`
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="answers" tests="${run.results.length}" failures="${run.results.length - run.passed}">`,
    ...tests,
    '</testsuite>',
  ].join('\n')
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string =>
  // XML has no place for control characters.
  text.replace(/[^\t\n\r\x20-\u{10FFFF}]/gu, ' ').replace(/[&<>"]/g, (found) => ESCAPES[found] ?? found)
