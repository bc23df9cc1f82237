import { sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import type { AgentRef, ConversationRef } from '../../../platform/db/refs.ts'
import { assignTopic } from './assign-topics.ts'
import { AGENT_TOPICS, topicSettings, topicsOf } from './queries.ts'
import { NO_TOPIC, tidyName, topicKey } from './topic-key.ts'

export type Candidate = { key: string; label: string }

/** The number of conversations that make a candidate a topic. */
const SHARED_BY = 3

/**
 * Stores what a model says that a conversation without a topic is about. A candidate that enough conversations share
 * becomes the topic of all of them. The transaction holds the lock of the agent. Nothing is stored while the agent's
 * topics are frozen.
 */
export async function keepCandidate(
  trx: Trx,
  ref: ConversationRef,
  candidate: Candidate | null,
): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  await trx
    .deleteFrom('topic_candidates')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .execute()
  if (!candidate) return
  const { frozen, declined } = await topicSettings(trx, { accountId, agentId })
  const topics = await topicsOf(trx, { accountId, agentId })
  if (frozen || topics.length >= AGENT_TOPICS) return
  // The names of topics, of merged ones and of deleted ones are not proposed again.
  const names = topics.flatMap(({ name, aliases }) => [name, ...aliases])
  if ([NO_TOPIC, ...declined, ...names.map(topicKey)].includes(candidate.key)) return
  const own = { conversation_id: conversationId, account_id: accountId, agent_id: agentId }
  await trx
    .insertInto('topic_candidates')
    .values({ ...own, ...candidate, origin: 'model' })
    .execute()
  await promoteShared(trx, ref, candidate.key)
}

async function promoteShared(trx: Trx, { accountId, agentId }: AgentRef, key: string): Promise<void> {
  const { rows: shared } = await sql<{ label: string }>`
    select mode() within group (order by label) as label from topic_candidates
    where account_id = ${accountId} and agent_id = ${agentId} and key = ${key}
    having count(*) >= ${SHARED_BY}`.execute(trx)
  const name = shared[0] && tidyName(shared[0].label)
  if (!name) return
  const topic = { id: newId(), name, key: topicKey(name), description: '', origin: 'model' as const }
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
