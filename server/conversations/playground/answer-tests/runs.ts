import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { planOf } from '../../../accounts/plans/plans.ts'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import type { Models } from '../../../ai/models.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AgentSnapshot } from '../../../platform/db/tables/agents.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { AnswerRunsTable } from '../../../platform/db/tables/conversations.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { newestFirst, type PageRequest } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { versionToAnswer } from '../drafts/drafts.ts'
import { holdOrigins, noteOrigins } from './cases/origins.ts'
import {
  type AnswerComparison,
  answersOf,
  type CaseOfRun,
  type ListedAnswerRun,
  type Result,
  type RunSettings,
} from './schema.ts'

type Row = Selectable<AnswerRunsTable>
/** What is known of the cases of a run without reading them: how many there are, and how many messages they have. */
type Size = { creditsOfAnswer: number; cases: number; turns: number }
type RunRow = Omit<Row, 'cases' | 'settings' | 'snapshot'> & {
  settings: RunSettings & Size
  done: number
  passed: number
  credits: number
}

/** The number of runs that are kept for each agent; older ones are deleted. */
const MAX_RUNS = 50

const runsOf = (db: Db, ref: AgentRef) =>
  db
    .selectFrom('answer_runs')
    .where(ofAgent(ref))
    .select(['id', 'account_id', 'agent_id', 'status', 'created_at', 'finished_at'])
    .select([
      sql<RunRow['settings']>`settings`.as('settings'),
      ...(['done', 'passed', 'credits'] as const).map((name) => totalOf[name].as(name)),
    ])

const ofRun = sql`from answer_results as one where one.run_id = answer_runs.id and one.account_id = answer_runs.account_id`
const totalOf = {
  done: sql<number>`(select count(*)::integer ${ofRun})`,
  passed: sql<number>`(select count(*)::integer ${ofRun} and (one.result -> 'passed')::boolean)`,
  credits: sql<number>`(select coalesce(sum((one.result -> 'credits')::float8), 0) ${ofRun})`,
}

/** Returns up to `limit` + 1 runs, newest first, and the total number. */
export const listRuns = (db: Db, ref: AgentRef, page: PageRequest) => newestFirst(runsOf(db, ref), page)

/** Returns the run. Throws RESOURCE_NOT_FOUND. */
export const requireRun = (db: Db, ref: AgentRef, id: string): Promise<RunRow> =>
  requireRow(runsOf(db, ref), id)

/** Returns the run before another one. Throws RESOURCE_NOT_FOUND if it was the first. */
export async function runBefore(db: Db, ref: AgentRef, { id, created_at }: RunRow): Promise<RunRow> {
  const row = await runsOf(db, ref)
    .where((eb) =>
      eb.or([
        eb('created_at', '<', created_at),
        eb.and([eb('created_at', '=', created_at), eb('id', '<', id)]),
      ]),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'There is no earlier run to compare with.' })
  return row
}

export async function resultsOf(db: Db, { accountId }: AgentRef, runId: string): Promise<Result[]> {
  const rows = await db
    .selectFrom('answer_results')
    .select(sql<Result>`result`.as('result'))
    .where('account_id', '=', accountId)
    .where('run_id', '=', runId)
    .orderBy('place')
    .orderBy('repetition')
    .execute()
  return rows.map(({ result }) => result)
}

/** Ends a run that is still running. */
export async function endRun(
  db: Db,
  ref: AgentRef,
  id: string,
  status: 'finished' | 'canceled' | 'stopped',
): Promise<void> {
  await db
    .updateTable('answer_runs')
    .set({ status, finished_at: new Date() })
    .where(ofAgent(ref))
    .where('id', '=', id)
    .where('status', '=', 'running')
    .execute()
}

/** Deletes the runs beyond the limit. */
async function dropOldRuns(db: Db, ref: AgentRef): Promise<void> {
  await sql`
    delete from answer_runs where account_id = ${ref.accountId} and agent_id = ${ref.agentId} and id in (
      select id from answer_runs where account_id = ${ref.accountId} and agent_id = ${ref.agentId}
      order by created_at desc, id desc offset ${sql.lit(MAX_RUNS)})`.execute(db)
}

/** The background job that runs one test of a run. */
export const RUN_ANSWER_TESTS = 'run-answer-tests'
/** `done` is the number of tests that are done before the job: a job runs one test and enqueues the next. */
export type RunAnswerTests = { accountId: AccountId; agentId: string; runId: string; done: number }

/**
 * Stores a run of these cases and enqueues its job. Throws RESOURCE_NOT_FOUND without a case or draft, RESOURCE_DUPLICATE while
 * another run of the agent is running, and CHAT_MODEL_NOT_ALLOWED.
 */
export async function startRun(
  trx: Trx,
  { jobs, models }: { jobs: Pick<Jobs, 'enqueue'>; models: Pick<Models, 'resolve'> },
  { ref, plan }: { ref: AgentRef; plan: string },
  cases: readonly CaseOfRun[],
  settings: RunSettings,
): Promise<string> {
  const version = await versionToAnswer(trx, ref, settings.version ?? 'live')
  if (cases.length === 0)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The agent has no cases; add some first.' })
  const model =
    models.resolve(settings.model ?? version.model) ?? (settings.model ? null : models.resolve('auto'))
  if (!model) throw invalidField('model', 'There is no such model.')
  const allowed = planOf(plan).models
  if (allowed && settings.model && settings.model !== 'auto' && !allowed.includes(settings.model))
    throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  const origins = await holdOrigins(trx, ref, cases)
  await holdAgent(trx, ref)
  const running = trx
    .selectFrom('answer_runs')
    .select('id')
    .where(ofAgent(ref))
    .where('status', '=', 'running')
  if (await running.executeTakeFirst())
    throw new ApiError('RESOURCE_DUPLICATE', {
      message: 'A test of this agent is running. Wait for it, or cancel it.',
    })
  const id = newId()
  const turns = cases.reduce((sum, one) => sum + answersOf(one), 0)
  const size: Size = { creditsOfAnswer: model.entry.credits, cases: cases.length, turns }
  await trx
    .insertInto('answer_runs')
    .values({
      id,
      account_id: ref.accountId,
      agent_id: ref.agentId,
      status: 'running',
      settings: json({ ...settings, ...size }),
      cases: json(cases),
      snapshot: json(version),
    })
    .execute()
  await noteOrigins(trx, ref, id, origins)
  await dropOldRuns(trx, ref)
  await enqueueTest(trx, jobs, { ...ref, runId: id, done: 0 })
  return id
}

export const enqueueTest = (
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  test: RunAnswerTests,
  afterSeconds = 0,
): Promise<void> => jobs.enqueue<RunAnswerTests>(trx, RUN_ANSWER_TESTS, test, afterSeconds, test.accountId)

export function presentRun(row: RunRow): Static<typeof ListedAnswerRun> {
  const { creditsOfAnswer, cases, turns, ...settings } = row.settings
  return {
    id: row.id,
    status: row.status,
    version: 'live',
    ...settings,
    total: cases * settings.repeats,
    done: row.done,
    passed: row.passed,
    expectedCredits: turns * settings.repeats * creditsOfAnswer,
    credits: row.credits,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}

type CaseShare = { caseId: string; name: string; share: number }

/** Returns the share of the repetitions of each case that passed. */
function sharesOf(results: readonly Result[]): Map<string, CaseShare> {
  const shares = new Map<string, CaseShare>()
  for (const [caseId, [first, ...others]] of Map.groupBy(results, (result) => result.caseId)) {
    if (!first) continue
    const all = [first, ...others]
    shares.set(caseId, {
      caseId,
      name: first.name,
      share: all.filter(({ passed }) => passed).length / all.length,
    })
  }
  return shares
}

/** Compares two runs by the cases that both have finished. */
export function compareRuns(
  before: readonly Result[],
  after: readonly Result[],
): Static<typeof AnswerComparison> {
  const [old, now] = [sharesOf(before), sharesOf(after)]
  const cases = [...now.values()].flatMap(({ caseId, name, share }) => {
    const former = old.get(caseId)
    return former ? [{ caseId, name, before: former.share, after: share }] : []
  })
  const better = cases.filter((one) => one.after > one.before).length
  const worse = cases.filter((one) => one.after < one.before).length
  return { cases, better, worse, same: cases.length - better - worse, chance: signTest(better, worse) }
}

/** The two-sided sign test: how likely so uneven a split is when better and worse are equally likely. */
function signTest(better: number, worse: number): number {
  const n = better + worse
  let chosen = 1
  let tail = 0
  for (let k = 0; k <= Math.min(better, worse); k++) {
    tail += chosen
    chosen = (chosen * (n - k)) / (k + 1)
  }
  return Math.min(1, (2 * tail) / 2 ** n)
}

/** Returns a case of a run, as it was when the run began. */
export async function caseOfRun(
  db: Db,
  ref: AgentRef,
  id: string,
  place: number,
): Promise<CaseOfRun | undefined> {
  const row = await db
    .selectFrom('answer_runs')
    .select(sql<CaseOfRun | null>`cases -> ${place}::integer`.as('asked'))
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.asked ?? undefined
}

/** Returns the run if it exists. */
export const findRun = (db: Db, ref: AgentRef, id: string): Promise<RunRow | undefined> =>
  runsOf(db, ref).where('id', '=', id).executeTakeFirst()

/** Returns the version of the agent that a run tests, as it was when the run began; null: the live one at the time. */
export async function snapshotOfRun(db: Db, ref: AgentRef, id: string): Promise<AgentSnapshot | null> {
  const row = await db
    .selectFrom('answer_runs')
    .select('snapshot')
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.snapshot ?? null
}
