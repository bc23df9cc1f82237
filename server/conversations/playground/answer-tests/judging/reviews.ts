import { sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../../../platform/db/database.ts'
import type { AgentRef } from '../../../../platform/db/refs.ts'
import { ApiError, invalidField } from '../../../../platform/http/errors.ts'
import { requireRun } from '../runs.ts'
import type { JudgeAgreement, NewAnswerReview, Result, Review } from '../schema.ts'

type Reviewed = Result & { reviews: Review[] }

/** Returns the results of a run in the order in which they were asked, with what people say about them. */
export async function reviewedResults(db: Db, { accountId }: AgentRef, runId: string): Promise<Reviewed[]> {
  const [rows, said] = await Promise.all([
    db
      .selectFrom('answer_results')
      .select(['place', 'repetition', sql<Result>`'{"judgement": null}'::jsonb || result`.as('result')])
      .where('account_id', '=', accountId)
      .where('run_id', '=', runId)
      .orderBy('place')
      .orderBy('repetition')
      .execute(),
    db
      .selectFrom('answer_reviews')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('run_id', '=', runId)
      .orderBy('judgement')
      .execute(),
  ])
  const reviews = Map.groupBy(said, ({ place, repetition }) => `${place} ${repetition}`)
  return rows.map(({ place, repetition, result }) => ({
    ...result,
    reviews: (reviews.get(`${place} ${repetition}`) ?? []).map((one) => ({
      judgement: one.judgement,
      agrees: one.agrees,
      note: one.note,
      reviewer: one.reviewer,
      createdAt: one.created_at.toISOString(),
    })),
  }))
}

/** Stores what somebody says about a judgement, in place of what was said before, or takes it back. Throws RESOURCE_NOT_FOUND. */
export async function reviewResult(
  trx: Trx,
  ref: AgentRef,
  runId: string,
  { caseId, repetition, judgement, agrees, note }: Static<typeof NewAnswerReview>,
  reviewer: string,
): Promise<Reviewed> {
  await requireRun(trx, ref, runId)
  const { accountId } = ref
  const row = await trx
    .selectFrom('answer_results')
    .select(['place', sql<Result>`result`.as('result')])
    .where('account_id', '=', accountId)
    .where('run_id', '=', runId)
    .where('repetition', '=', repetition)
    .where(sql`result ->> 'caseId'`, '=', caseId)
    .executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The run has no such result.' })
  if (!namesJudgement(row.result, judgement))
    throw invalidField('judgement', 'The result has no such judgement.')
  const place = { run_id: runId, place: row.place, repetition, judgement }
  if (agrees === null) {
    await trx
      .deleteFrom('answer_reviews')
      .where('account_id', '=', accountId)
      .where('run_id', '=', runId)
      .where('place', '=', row.place)
      .where('repetition', '=', repetition)
      .where('judgement', '=', judgement)
      .execute()
  } else {
    const said = { agrees, note: note.trim(), reviewer, created_at: new Date() }
    await trx
      .insertInto('answer_reviews')
      .values({ ...place, account_id: accountId, ...said })
      .onConflict((conflict) =>
        conflict.columns(['run_id', 'place', 'repetition', 'judgement']).doUpdateSet(said),
      )
      .execute()
  }
  const results = await reviewedResults(trx, ref, runId)
  return results.find((one) => one.caseId === caseId && one.repetition === repetition) as Reviewed
}

function namesJudgement({ checks, judgement }: Result, name: string): boolean {
  if (name === 'answer') return true
  const claim = /^claim-([1-9]\d{0,3})$/.exec(name)
  if (claim) return Number(claim[1]) <= (judgement?.claims.length ?? 0)
  return checks.some(({ kind, passed }) => kind === name && passed !== null)
}

/** Returns, for each model that has judged in the runs that are kept, how often people agree with it. */
export async function judgeAgreement(
  db: Db,
  { accountId, agentId }: AgentRef,
): Promise<Static<typeof JudgeAgreement>[]> {
  const { rows } = await sql<Omit<Static<typeof JudgeAgreement>, 'share'>>`
    select one.result #>> '{judgement,model}' as model,
      sum(jsonb_array_length(one.result #> '{judgement,claims}') + (
        select count(*) from jsonb_array_elements(one.result -> 'checks') as checked
        where checked ->> 'kind' in ('faithful', 'means', 'sounds')
          and jsonb_typeof(checked -> 'passed') = 'boolean'))::integer as judged,
      (count(*) filter (where one.result #>> '{judgement,problem}' is not null))::integer as failed,
      sum(said.reviewed)::integer as reviewed, sum(said.agreed)::integer as agreed
    from answer_runs as runs
    join answer_results as one on one.run_id = runs.id and one.account_id = runs.account_id
    cross join lateral (
      select count(*) as reviewed, count(*) filter (where agrees) as agreed from answer_reviews as review
      where review.account_id = one.account_id and review.run_id = one.run_id and review.place = one.place
        and review.repetition = one.repetition and review.judgement <> 'answer') as said
    where runs.account_id = ${accountId} and runs.agent_id = ${agentId}
      and one.result #>> '{judgement,model}' is not null
    group by 1 order by 1`.execute(db)
  return rows.map((row) => ({ ...row, share: row.reviewed > 0 ? row.agreed / row.reviewed : null }))
}
