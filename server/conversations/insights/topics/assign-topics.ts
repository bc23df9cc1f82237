import type { Trx } from '../../../platform/db/database.ts'
import { type AgentRef, type ConversationRef, ofAgent } from '../../../platform/db/refs.ts'

type Topic = { id: string; name: string }

/** Adds a topic to conversations that do not have it. */
export async function assignTopic(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { id, name }: Topic,
  conversationIds: readonly string[],
): Promise<void> {
  if (conversationIds.length === 0) return
  const own = { account_id: accountId, agent_id: agentId, topic_id: id, name }
  await trx
    .insertInto('conversation_topics')
    .values(conversationIds.map((conversationId) => ({ ...own, conversation_id: conversationId })))
    .onConflict((conflict) => conflict.columns(['conversation_id', 'name']).doNothing())
    .execute()
}

/** Sets the topics of a conversation, writing only what changes. Ids of deleted topics are ignored. */
export async function setTopics(
  trx: Trx,
  { accountId, agentId, conversationId }: ConversationRef,
  topicIds: readonly string[],
): Promise<void> {
  const topics =
    topicIds.length === 0
      ? []
      : await trx
          .selectFrom('topics')
          .select(['id', 'name'])
          .where(ofAgent({ accountId, agentId }))
          .where('id', 'in', topicIds)
          .execute()
  let others = trx
    .deleteFrom('conversation_topics')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
  if (topics.length > 0) {
    const ids = topics.map(({ id }) => id)
    others = others.where((eb) => eb.or([eb('topic_id', 'is', null), eb('topic_id', 'not in', ids)]))
  }
  await others.execute()
  for (const topic of topics) await assignTopic(trx, { accountId, agentId }, topic, [conversationId])
}
