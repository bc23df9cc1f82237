import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ApiError, invalidField } from '../../../platform/http/errors.ts'
import { lockInsights } from '../days/lock-agent.ts'
import { AGENT_TOPICS, requireTopic, type TopicRow, topicSettings } from './queries.ts'
import { topicKey } from './topic-key.ts'

/** The newest deleted names are kept, so that they are not found again. */
const MAX_DECLINED = 500

/**
 * Adds a topic by hand. Throws RESOURCE_DUPLICATE, and VALIDATION_INVALID_BODY when the agent has reached its limit.
 */
export async function addTopic(
  db: Db,
  { accountId, agentId }: AgentRef,
  { name, description = '' }: { name: string; description?: string },
): Promise<TopicRow> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const { total } = await trx
      .selectFrom('topics')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .where(ofAgent({ accountId, agentId }))
      .executeTakeFirstOrThrow()
    if (total >= AGENT_TOPICS)
      throw invalidField('name', `An agent has at most ${AGENT_TOPICS} topics. Delete or merge one first.`)
    const key = await freeKey(trx, { accountId, agentId }, name, null)
    const topic = { id: newId(), account_id: accountId, agent_id: agentId, name, key, description }
    return trx
      .insertInto('topics')
      .values({ ...topic, origin: 'manual' })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** Changes the given fields. Throws RESOURCE_NOT_FOUND and RESOURCE_DUPLICATE. */
export async function changeTopic(
  db: Db,
  ref: AgentRef,
  topicId: string,
  { name, description }: { name?: string; description?: string },
): Promise<TopicRow> {
  const { accountId, agentId } = ref
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const topic = await requireTopic(trx, { accountId, agentId }, topicId)
    const renamed =
      name === undefined || name === topic.name ? {} : { name, key: await freeKey(trx, ref, name, topicId) }
    if (name !== undefined && name !== topic.name) await rename(trx, accountId, topicId, name)
    return trx
      .updateTable('topics')
      .set({ ...renamed, ...(description === undefined ? {} : { description }), updated_at: new Date() })
      .where(ownRow(accountId, topicId))
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** Deletes a topic and removes it from its conversations. Throws RESOURCE_NOT_FOUND. */
export async function removeTopic(db: Db, { accountId, agentId }: AgentRef, topicId: string): Promise<void> {
  await transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const { name, aliases } = await requireTopic(trx, { accountId, agentId }, topicId)
    const { declined } = await topicSettings(trx, { accountId, agentId })
    const keys = [name, ...aliases].map(topicKey)
    const kept = json([...new Set([...declined, ...keys])].slice(-MAX_DECLINED))
    await trx
      .insertInto('topic_settings')
      .values({ account_id: accountId, agent_id: agentId, declined: kept })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ declined: kept }))
      .execute()
    await trx.deleteFrom('topics').where('account_id', '=', accountId).where('id', '=', topicId).execute()
  })
}

/** Freezes the set of topics, or lets it grow again. */
export async function freezeTopics(db: Db, { accountId, agentId }: AgentRef, frozen: boolean): Promise<void> {
  await transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    await trx
      .insertInto('topic_settings')
      .values({ account_id: accountId, agent_id: agentId, frozen, declined: json([]) })
      .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ frozen }))
      .execute()
  })
}

async function freeKey(trx: Trx, ref: AgentRef, name: string, own: string | null): Promise<string> {
  const key = topicKey(name)
  const other = await trx
    .selectFrom('topics')
    .select('id')
    .where(ofAgent(ref))
    .where('key', '=', key)
    .executeTakeFirst()
  if (other && other.id !== own)
    throw new ApiError('RESOURCE_DUPLICATE', { message: 'The agent has a topic of this name.' })
  return key
}

async function rename(trx: Trx, accountId: AccountId, topicId: string, name: string): Promise<void> {
  await trx
    .updateTable('conversation_topics')
    .set({ name })
    .where('account_id', '=', accountId)
    .where('topic_id', '=', topicId)
    .execute()
}
