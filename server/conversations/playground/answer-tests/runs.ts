import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import { planOf } from '../../../accounts/plans/plans.ts'
import { holdAgent } from '../../../agents/records/find-agent.ts'
import { dollarsOf } from '../../../ai/calls/call-use.ts'
import type { ResolvedModel } from '../../../ai/calls/model-call.ts'
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
  type AnswerRunEstimate,
  answersOf,
  type CaseContent,
  type CaseOfRun,
  type ListedAnswerRun,
  type Result,
  type RunSettings,
} from './schema.ts'

type Row = Selectable<AnswerRunsTable>
/** What is known of the cases of a run without reading them: how many there are, and how many messages they have. */
type Size = { creditsOfAnswer: number; cases: number; turns: number }
/** The schedule of the agent starts runs, too. */
type Settings = RunSettings & { isScheduled?: boolean }
export type RunRow = Omit<Row, 'cases' | 'settings' | 'snapshot'> & {
  settings: Settings & Size
  done: number
  passed: number
  failed: number
  credits: number
  /** What is known of the money so far. */
  spent: number
  /** Whether the price of a call is not known. */
  isUnpriced: boolean
}

/** The number of runs that are kept for each agent; older ones are deleted. */
const MAX_RUNS = 50

const runsOf = (db: Db, ref: AgentRef) =>
  db
    .selectFrom('answer_runs')
    .where(ofAgent(ref))
    .select(['id', 'account_id', 'agent_id', 'status', 'problem', 'created_at', 'finished_at'])
    .select([
      sql<RunRow['settings']>`settings`.as('settings'),
      sql<number>`(select count(*)::integer ${ofRun})`.as('done'),
      sql<number>`(select count(*)::integer ${ofRun} and one.result -> 'passed' = 'true')`.as('passed'),
      sql<number>`(select count(*)::integer ${ofRun} and one.result -> 'passed' = 'false')`.as('failed'),
      sql<number>`(select coalesce(sum((one.result ->> 'credits')::float8), 0) ${ofRun})`.as('credits'),
      // Results of earlier versions have neither member.
      sql<number>`(select coalesce(sum(coalesce((one.result ->> 'spentDollars')::float8,
        coalesce((one.result ->> 'dollars')::float8, 0)
          + coalesce((one.result #>> '{judgement,dollars}')::float8, 0))), 0) ${ofRun})`.as('spent'),
      sql<boolean>`exists (select ${ofRun} and coalesce((one.result ->> 'isUnpriced')::boolean,
        one.result ->> 'dollars' is null and one.result ->> 'error' is null
        or one.result #>> '{judgement,model}' is not null and one.result #>> '{judgement,dollars}' is null))`.as(
        'isUnpriced',
      ),
    ])

const ofRun = sql`from answer_results as one where one.run_id = answer_runs.id and one.account_id = answer_runs.account_id`

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

/** Returns the scheduled run before this one that came to its end. */
export const scheduledRunBefore = (
  db: Db,
  ref: AgentRef,
  { id, created_at }: RunRow,
): Promise<RunRow | undefined> =>
  runsOf(db, ref)
    .where('id', '<>', id)
    .where('created_at', '<=', created_at)
    .where('status', '=', 'finished')
    .where(sql<boolean>`settings -> 'isScheduled' = 'true'`)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

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
  settings: Settings,
): Promise<string> {
  if (cases.length === 0)
    throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The agent has no cases; add some first.' })
  const origins = await holdOrigins(trx, ref, cases)
  await holdAgent(trx, ref)
  const version = await versionToAnswer(trx, ref, settings.version ?? 'live')
  const model = requireModel(models, { plan, model: version.model }, settings)
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

/** Returns the model that answers in a run. Throws CHAT_MODEL_NOT_ALLOWED, and VALIDATION_INVALID_BODY for one that cannot. */
export function requireModel(
  models: Pick<Models, 'resolve'>,
  { plan, model: own }: { plan: string; model: string },
  { model: wanted, maxDollars }: Pick<RunSettings, 'model' | 'maxDollars'>,
): ResolvedModel {
  const model = models.resolve(wanted ?? own) ?? (wanted ? null : models.resolve('auto'))
  if (!model) throw invalidField('model', 'There is no such model.')
  const allowed = planOf(plan).models
  if (allowed && wanted && wanted !== 'auto' && !allowed.includes(wanted))
    throw new ApiError('CHAT_MODEL_NOT_ALLOWED')
  if (maxDollars !== undefined && !model.entry.prices)
    throw invalidField(
      'maxDollars',
      `The price of ${model.entry.id} is not known, so no money can be limited.`,
    )
  return model
}

/** Returns what a run would take. The money is that of earlier tests of the agent, at the prices of the model. */
export async function estimateRun(
  db: Db,
  { ref, model: { entry } }: { ref: AgentRef; model: ResolvedModel },
  cases: readonly Pick<CaseContent, 'messages' | 'customer'>[],
  { repeats }: Pick<RunSettings, 'repeats'>,
): Promise<Static<typeof AnswerRunEstimate>> {
  const messages = cases.reduce((sum, one) => sum + answersOf(one), 0) * repeats
  const { rows } = await sql<{ read: number | null; written: number | null }>`
    select avg((one.result ->> 'inputTokens')::float8 / asked.messages) as read,
      avg((one.result ->> 'outputTokens')::float8 / asked.messages) as written
    from answer_runs as runs
    join answer_results as one on one.run_id = runs.id and one.account_id = runs.account_id
    cross join lateral (
      select count(*) as messages from jsonb_array_elements(one.result -> 'messages') as said
      where said ->> 'role' = 'user') as asked
    where runs.account_id = ${ref.accountId} and runs.agent_id = ${ref.agentId} and asked.messages > 0`.execute(
    db,
  )
  const { read = null, written = null } = rows[0] ?? {}
  const cost = { inputTokens: read, cachedTokens: null, outputTokens: written }
  const dollars = dollarsOf(cost, entry.prices)
  return {
    model: entry.id,
    tests: cases.length * repeats,
    messages,
    credits: messages * entry.credits,
    dollars: dollars === null ? null : dollars * messages,
  }
}

export const enqueueTest = (
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  test: RunAnswerTests,
  afterSeconds = 0,
): Promise<void> => jobs.enqueue<RunAnswerTests>(trx, RUN_ANSWER_TESTS, test, afterSeconds, test.accountId)

export function presentRun(row: RunRow): Static<typeof ListedAnswerRun> {
  const { creditsOfAnswer, cases, turns, isScheduled = false, ...settings } = row.settings
  return {
    id: row.id,
    status: row.status,
    version: 'live',
    problem: row.problem,
    isScheduled,
    ...settings,
    total: cases * settings.repeats,
    done: row.done,
    passed: row.passed,
    failed: row.failed,
    expectedCredits: turns * settings.repeats * creditsOfAnswer,
    credits: row.credits,
    dollars: row.isUnpriced ? null : row.spent,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}

/** Returns the cases of a run as they were when it began: all, or those with these ids. Throws RESOURCE_NOT_FOUND. */
export async function casesOfRun(
  db: Db,
  ref: AgentRef,
  id: string,
  caseIds: readonly string[] | undefined,
): Promise<CaseOfRun[]> {
  const row = await db
    .selectFrom('answer_runs')
    .select('cases')
    .where(ofAgent(ref))
    .where('id', '=', id)
    .executeTakeFirst()
  // One that names an erased person was emptied.
  const cases = ((row?.cases ?? []) as CaseOfRun[]).filter(
    (one) => answersOf(one) > 0 && (caseIds?.includes(one.id) ?? true),
  )
  if (cases.length === 0) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The run has no such case.' })
  return cases
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
