import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { invalidField } from '../../../platform/http/errors.ts'
import { lockInsights } from '../days/lock-agent.ts'
import { requireTopic, type TopicRow } from './queries.ts'

const MAX_ALIASES = 50

/** Moves all conversations of a topic to another one, which gets the name as an alias. Throws RESOURCE_NOT_FOUND. */
export async function mergeTopic(
  db: Db,
  { accountId, agentId }: AgentRef,
  topicId: string,
  intoTopicId: string,
): Promise<TopicRow> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const from = await requireTopic(trx, { accountId, agentId }, topicId)
    const into = await requireTopic(trx, { accountId, agentId }, intoTopicId)
    if (from.id === into.id) throw invalidField('intoTopicId', 'Must be another topic.')
    await sql`
      update conversation_topics as moved set topic_id = ${into.id}, name = ${into.name}
      where account_id = ${accountId} and topic_id = ${from.id} and not exists (
        select from conversation_topics where conversation_id = moved.conversation_id and topic_id = ${into.id})`.execute(
      trx,
    )
    await trx.deleteFrom('topics').where('account_id', '=', accountId).where('id', '=', from.id).execute()
    const aliases = [...new Set([...into.aliases, from.name, ...from.aliases])].slice(0, MAX_ALIASES)
    return trx
      .updateTable('topics')
      .set({ aliases: json(aliases), updated_at: new Date() })
      .where(ownRow(accountId, into.id))
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}
