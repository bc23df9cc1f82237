import { sql } from 'kysely'
import type { Db, Trx } from '../../../../platform/db/database.ts'
import type { AgentRef } from '../../../../platform/db/refs.ts'
import { json } from '../../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../../platform/db/tables/columns.ts'
import { ApiError } from '../../../../platform/http/errors.ts'
import type { CaseOfRun, Result } from '../schema.ts'

type Origin = { place: number; conversation_id: string }

/**
 * Keeps the conversations that cases were made of from being deleted before the run is stored, which copies the cases.
 * Throws RESOURCE_NOT_FOUND if one is gone.
 */
export async function holdOrigins(
  trx: Trx,
  { accountId }: AgentRef,
  cases: readonly CaseOfRun[],
): Promise<Origin[]> {
  const origins = cases.flatMap(({ conversationId }, place) =>
    conversationId === undefined ? [] : [{ place, conversation_id: conversationId }],
  )
  const ids = new Set(origins.map(({ conversation_id }) => conversation_id))
  if (ids.size === 0) return []
  const { rows } = await sql`
    select id from conversations where account_id = ${accountId} and id = any(${[...ids]}::uuid[])
    order by id for share`.execute(trx)
  if (rows.length < ids.size)
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: 'A case was deleted with its conversation a moment ago. Start the test again.',
    })
  return origins
}

/** Notes which cases of a run were made of which conversations. */
export async function noteOrigins(
  trx: Trx,
  { accountId }: AgentRef,
  runId: string,
  origins: readonly Origin[],
): Promise<void> {
  if (origins.length === 0) return
  await trx
    .insertInto('answer_origins')
    .values(origins.map((origin) => ({ ...origin, run_id: runId, account_id: accountId })))
    .execute()
}

const GONE = 'Deleted with its conversation'

/** Returns the figures of a result without what was said. Its members are named, so that a new one is left out. */
const cleared = (result: Result): Result => ({
  caseId: result.caseId,
  name: GONE,
  repetition: result.repetition,
  passed: result.passed,
  checks: [],
  messages: [],
  calls: [],
  sources: [],
  outcome: null,
  model: result.model,
  credits: result.credits,
  inputTokens: result.inputTokens,
  outputTokens: result.outputTokens,
  dollars: result.dollars,
  firstMs: result.firstMs,
  ms: result.ms,
  ...(result.spentDollars === undefined ? {} : { spentDollars: result.spentDollars }),
  ...(result.isUnpriced === undefined ? {} : { isUnpriced: result.isUnpriced }),
  error: 'What was said was deleted with the conversation that the case was made of.',
  judgement: null,
})

/** Returns the result, without what was said if the conversation of its case has been deleted meanwhile. */
export async function withoutErased(
  trx: Trx,
  { accountId }: AgentRef,
  runId: string,
  place: number,
  { conversationId }: CaseOfRun,
  result: Result,
): Promise<Result> {
  if (conversationId === undefined) return result
  const origin = await trx
    .selectFrom('answer_origins')
    .select('place')
    .where('account_id', '=', accountId)
    .where('run_id', '=', runId)
    .where('place', '=', place)
    .forKeyShare()
    .executeTakeFirst()
  return origin ? result : cleared(result)
}

/** Deletes the cases that were made of conversations, and what runs have copied of them and answered. */
export async function dropCasesOf(
  trx: Db,
  accountId: AccountId,
  conversationIds: readonly string[],
): Promise<void> {
  await trx
    .deleteFrom('answer_cases')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', conversationIds)
    .execute()
  const origins = await trx
    .deleteFrom('answer_origins')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', conversationIds)
    .returning(['run_id', 'place'])
    .execute()
  for (const { run_id, place } of origins) {
    const empty: Omit<CaseOfRun, 'id'> = { name: GONE, messages: [], expect: {} }
    await sql`
      update answer_runs set cases = jsonb_set(cases, array[${String(place)}],
        jsonb_build_object('id', cases -> ${place}::integer -> 'id') || ${json(empty)}::jsonb)
      where account_id = ${accountId} and id = ${run_id}`.execute(trx)
    await clearResults(trx, accountId, run_id, place)
  }
}

async function clearResults(trx: Db, accountId: AccountId, runId: string, place: number): Promise<void> {
  const rows = await trx
    .selectFrom('answer_results')
    .select('repetition')
    .select(sql<Result>`result`.as('result'))
    .where('account_id', '=', accountId)
    .where('run_id', '=', runId)
    .where('place', '=', place)
    .execute()
  await trx
    .deleteFrom('answer_reviews')
    .where('account_id', '=', accountId)
    .where('run_id', '=', runId)
    .where('place', '=', place)
    .execute()
  for (const { repetition, result } of rows)
    await trx
      .updateTable('answer_results')
      .set({ result: json(cleared(result)) })
      .where('account_id', '=', accountId)
      .where('run_id', '=', runId)
      .where('place', '=', place)
      .where('repetition', '=', repetition)
      .execute()
}
