import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { transact } from '../../db/transact.ts'
import { ANALYSE_CONVERSATIONS, type AnalyseConversations } from './analyse-task.ts'

/** Waiting for a worker at any time: what comes when a model is slow stays in its row. */
const AT_ONCE = 400
const IN_A_JOB = 10
const HELD_MS = 60 * 60_000

/**
 * Takes conversations that have ended or gone idle and enqueues them; each is taken once, however many processes ask,
 * and again after an hour if nothing came of it. Answers how many were taken.
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
    // In the order in which they began: the first question of a group names it.
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
