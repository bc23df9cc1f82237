import { sql } from 'kysely'
import type { Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import type { ConversationRef } from '../../db/refs.ts'
import type { Analyst } from '../../db/tables/conversations.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { assignTopic } from './assign-topics.ts'
import { AGENT_TOPICS, topicSettings, topicsOf } from './queries.ts'
import { takenKeys } from './taken-keys.ts'
import { tidyName, topicKey } from './topic-key.ts'
export type Candidate = { key: string; label: string; origin: Analyst }

/** The number of conversations that make a candidate a topic. */
const SHARED_BY = 3
/** When there are enough conversations to tell, a word in every second one does not distinguish any. */
const COMMON_SHARE = 0.5
const ENOUGH = 20

/**
 * Stores what a conversation without a topic may be about. A candidate that enough conversations share becomes the
 * topic of all of them. The transaction holds the lock of the agent. Nothing is stored while the agent's topics are
 * frozen.
 */
export async function keepCandidates(
  trx: Trx,
  stem: Stemmer,
  ref: ConversationRef,
  candidates: readonly Candidate[],
): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  await trx
    .deleteFrom('topic_candidates')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .execute()
  if (candidates.length === 0) return
  const { frozen, declined } = await topicSettings(trx, { accountId, agentId })
  const topics = await topicsOf(trx, { accountId, agentId })
  if (frozen || topics.length >= AGENT_TOPICS) return
  const taken = takenKeys(topics, declined, stem)
  const kept = candidates.filter(({ key, label }) => !taken.has(key) && !taken.has(topicKey(label)))
  if (kept.length === 0) return
  const own = { conversation_id: conversationId, account_id: accountId, agent_id: agentId }
  await trx
    .insertInto('topic_candidates')
    .values(kept.map((candidate) => ({ ...own, ...candidate })))
    .execute()
  const best = await mostShared(trx, ref, kept)
  if (best) await promote(trx, ref, best)
}

type Shared = { key: string; n: number; label: string; origin: Analyst }

/** Returns the longest name that enough conversations share, and among equally long ones the most frequent. */
async function mostShared(
  trx: Trx,
  ref: ConversationRef,
  kept: readonly Candidate[],
): Promise<Shared | undefined> {
  const { accountId, agentId } = ref
  const { rows } = await sql<Shared>`
    select key, count(*)::int as n, mode() within group (order by label) as label,
      mode() within group (order by origin) as origin
    from topic_candidates
    where account_id = ${accountId} and agent_id = ${agentId} and key = any(${kept.map(({ key }) => key)}::text[])
    group by key having count(*) >= ${SHARED_BY}`.execute(trx)
  if (rows.length === 0) return undefined
  const all = await conversationsOfLate(trx, ref)
  const length = ({ key }: Shared) => key.split(' ').length
  return rows
    .filter(({ n, origin }) => origin === 'model' || all < ENOUGH || n <= all * COMMON_SHARE)
    .filter(({ label }) => tidyName(label) !== null)
    .sort((a, b) => length(b) - length(a) || b.n - a.n || (a.key < b.key ? -1 : 1))[0]
}

async function conversationsOfLate(trx: Trx, { accountId, agentId }: ConversationRef): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select coalesce(sum(conversations), 0)::int as n from insight_days
    where account_id = ${accountId} and agent_id = ${agentId} and day >= current_date - 30`.execute(trx)
  return rows[0]?.n ?? 0
}

async function promote(trx: Trx, ref: ConversationRef, { key, label, origin }: Shared): Promise<void> {
  const { accountId, agentId } = ref
  const name = tidyName(label) ?? label
  const topic = { id: newId(), name, key: topicKey(name), description: '', origin }
  const added = await trx
    .insertInto('topics')
    .values({ ...topic, account_id: accountId, agent_id: agentId })
    .onConflict((conflict) => conflict.constraint('topics_key').doNothing())
    .returning('id')
    .executeTakeFirst()
  if (!added) return
  const { rows } = await sql<{ id: string }>`
    select c.id from conversations c join topic_candidates t on t.conversation_id = c.id
    where t.account_id = ${accountId} and t.agent_id = ${agentId} and t.key = ${key}
    order by c.id for key share of c`.execute(trx)
  const ids = rows.map(({ id }) => id)
  await assignTopic(trx, { accountId, agentId }, topic, ids)
  await trx
    .deleteFrom('topic_candidates')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .execute()
}
