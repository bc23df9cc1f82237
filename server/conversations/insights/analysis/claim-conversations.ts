import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'

export const ANALYSE_CONVERSATIONS = 'analyse-conversations'

/**
 * A conversation, and the time until which it is claimed. As long as the row holds this value, nothing has happened in
 * the conversation.
 */
export type Claim = { id: string; held: string }

export type AnalyseConversations = { claims: Claim[] }

/** The most conversations that wait for a worker. When a model is slow, further ones stay in the table. */
const AT_ONCE = 400
const IN_A_JOB = 10
const HELD_MS = 60 * 60_000

/**
 * Claims conversations that have ended or become idle and enqueues them. Each is claimed once, however many processes
 * do this, and again after an hour if it was not completed. Returns the number claimed.
 */
export async function claimConversations(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  now = new Date(),
): Promise<number> {
  return transact(db, async (trx) => {
    const { held } = await trx
      .selectFrom('conversations')
      .select((eb) => eb.fn.countAll<number>().as('held'))
      .where('analysis_held', '>', now)
      .executeTakeFirstOrThrow()
    if (held >= AT_ONCE) return 0
    const until = new Date(now.getTime() + HELD_MS)
    const { rows } = await sql<{ id: string }>`
      update conversations set analysis_held = ${until} where id in (
        select id from conversations
        where analysis_due <= ${now} and not transient and (analysis_held is null or analysis_held <= ${now})
        order by analysis_due limit ${AT_ONCE - held} for no key update skip locked)
      returning id`.execute(trx)
    // Ordered by creation, because the first question of a group names it.
    const claims = rows
      .map(({ id }) => ({ id, held: until.toISOString() }))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
    for (let from = 0; from < claims.length; from += IN_A_JOB) {
      const payload = { claims: claims.slice(from, from + IN_A_JOB) }
      await jobs.enqueue<AnalyseConversations>(trx, ANALYSE_CONVERSATIONS, payload)
    }
    return claims.length
  })
}

/** This many conversations of an agent are analysed early, so that its owner sees something on the first day. */
const FIRST = 10
const EARLY_AFTER_SECONDS = 20
/** Conversations that have been idle for longer are analysed in the usual way. */
const EARLY_UNTIL_SECONDS = 300
const EARLY_AT_ONCE = 100

/** Makes the first conversations of each agent due once they have been idle for a moment. */
export async function hastenFirst({ db, jobs }: Pick<Context, 'db' | 'jobs'>): Promise<number> {
  // A busy agent has thousands of candidates, so its analysed conversations are counted once for all of them.
  await sql`
    with due as materialized (
      select id, account_id, agent_id, analysis_due from conversations
      where analysis_due between now() + interval '30 minutes' - ${EARLY_UNTIL_SECONDS} * interval '1 second'
          and now() + interval '30 minutes' - ${EARLY_AFTER_SECONDS} * interval '1 second'
        and not transient and analysis_held is null
    ), fresh as materialized (
      select agent_id from (select distinct account_id, agent_id from due) as busy
      where (select count(*) from (
        select from conversations seen
        where seen.account_id = busy.account_id and seen.agent_id = busy.agent_id and seen.analysed_at is not null
        order by seen.updated_at limit ${FIRST}) first) < ${FIRST}
    )
    update conversations set analysis_due = now() where id in (
      select id from conversations
      where analysis_held is null and id in (
        select id from due where agent_id in (select agent_id from fresh)
        order by analysis_due limit ${EARLY_AT_ONCE})
      for no key update skip locked)`.execute(db)
  return claimConversations({ db, jobs })
}

/** Makes everything new in an agent's conversations due for analysis now. Returns how many conversations wait. */
export async function analyseNow(
  { db, jobs }: Pick<Context, 'db'> & { jobs: Context['jobs'] | null },
  { accountId, agentId }: AgentRef,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('conversations')
    .set({ analysis_due: sql<Date>`now()` })
    .where('account_id', '=', accountId)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('conversations')
        .select('id')
        .where(ofAgent({ accountId, agentId }))
        .where('analysis_due', 'is not', null)
        .where('analysis_held', 'is', null)
        .where('transient', '=', false)
        .orderBy('id')
        .forNoKeyUpdate(),
    )
    .executeTakeFirst()
  if (jobs) await claimConversations({ db, jobs })
  return Number(numUpdatedRows)
}
