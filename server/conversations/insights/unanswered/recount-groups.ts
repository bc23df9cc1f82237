import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent, ownRow } from '../../../platform/db/refs.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { wordsOnly } from '../../../platform/text/words/words.ts'
import { lockInsights } from '../days/lock-agent.ts'

/** Returns a key for a short text that does not reveal the text. */
export const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url')

type Counted = { id: string; count: number; last: Date | null; stands: boolean | null; newest: string | null }

const AGENTS = 20

/**
 * Recounts groups whose questions were deleted with their conversations: those of some agents in the queue, each
 * agent in a separate transaction. Returns the number of groups.
 */
export async function recountQueued(db: Db): Promise<number> {
  const { rows } = await sql<{ agent_id: string; account_id: AccountId }>`
    select distinct q.agent_id, a.account_id from insights_queue q join agents a on a.id = q.agent_id
    where q.group_id is not null limit ${sql.lit(AGENTS)}`.execute(db)
  let counted = 0
  for (const { agent_id, account_id } of rows) {
    counted += await transact(db, async (trx) => {
      await lockInsights(trx, agent_id)
      const queued = await trx
        .deleteFrom('insights_queue')
        .where('agent_id', '=', agent_id)
        .where('group_id', 'is not', null)
        .returning('group_id')
        .execute()
      const ids = [...new Set(queued.flatMap(({ group_id }) => group_id ?? []))]
      await recountGroups(trx, { accountId: account_id, agentId: agent_id }, ids)
      return ids.length
    })
  }
  return counted
}

/**
 * Updates the count and the time of groups from their questions. A group without questions is deleted, and a group
 * whose name nobody asks any more is renamed: what a person wrote disappears with the person's conversation. The
 * transaction holds the lock of the agent.
 */
export async function recountGroups(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const { rows } = await sql<Counted>`
    select g.id, count(q.message_id)::int as count, max(q.asked_at) as last, bool_or(q.question = g.question) as stands,
      (array_agg(q.question order by q.asked_at desc))[1] as newest
    from unanswered_groups g left join unanswered_questions q on q.group_id = g.id
    where g.account_id = ${accountId} and g.agent_id = ${agentId} and g.id = any(${ids}::uuid[])
    group by g.id`.execute(trx)
  for (const row of rows) await storeCount(trx, { accountId, agentId }, row)
}

async function storeCount(trx: Trx, { accountId, agentId }: AgentRef, row: Counted): Promise<void> {
  const { id, count, last, stands, newest } = row
  if (last === null || newest === null) {
    await trx.deleteFrom('unanswered_groups').where(ownRow(accountId, id)).execute()
    return
  }
  await trx
    .updateTable('unanswered_groups')
    .set({ count, last_asked_at: last })
    .set(stands ? {} : { question: newest, key: await freeKey(trx, { accountId, agentId }, newest, id) })
    .where(ownRow(accountId, id))
    .execute()
}

/**
 * Returns the key of a group with this question, or one made of the group's id when another group already has the
 * question.
 */
async function freeKey(trx: Trx, ref: AgentRef, question: string, id: string) {
  const key = hashed(wordsOnly(question))
  const other = await trx
    .selectFrom('unanswered_groups')
    .select('id')
    .where(ofAgent(ref))
    .where('key', '=', key)
    .where('id', '<>', id)
    .executeTakeFirst()
  return other ? hashed(id) : key
}
