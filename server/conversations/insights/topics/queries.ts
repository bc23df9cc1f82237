import type { Selectable } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { TopicsTable } from '../../../platform/db/tables/insights.ts'
import { newestFirst, type PageRequest } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'

export type TopicRow = Selectable<TopicsTable>

/** The most topics of an agent; a model reads all of them with each conversation. */
export const AGENT_TOPICS = 100

/** Returns up to `limit` + 1 topics, newest first, and their total number. */
export async function listTopicRows(
  db: Db,
  ref: AgentRef,
  page: PageRequest,
): Promise<{ rows: TopicRow[]; total: number }> {
  const query = db.selectFrom('topics').where(ofAgent(ref))
  return newestFirst(query.selectAll(), page)
}

/** Returns all topics of an agent, oldest first. */
export function topicsOf(db: Db, ref: AgentRef): Promise<TopicRow[]> {
  return db.selectFrom('topics').selectAll().where(ofAgent(ref)).orderBy('created_at').orderBy('id').execute()
}

/** Returns the topic. Throws RESOURCE_NOT_FOUND. */
export async function requireTopic(db: Db, ref: AgentRef, id: string): Promise<TopicRow> {
  return requireRow(db.selectFrom('topics').selectAll().where(ofAgent(ref)), id, 'The topic does not exist.')
}

type TopicSettings = { frozen: boolean; declined: string[] }

export async function topicSettings(db: Db, ref: AgentRef): Promise<TopicSettings> {
  const row = await db
    .selectFrom('topic_settings')
    .select(['frozen', 'declined'])
    .where(ofAgent(ref))
    .executeTakeFirst()
  return row ?? { frozen: false, declined: [] }
}

/** Returns the topics of one conversation, by name. */
export async function topicsOfConversation(
  db: Db,
  accountId: AccountId,
  conversationId: string,
): Promise<{ id: string; name: string }[]> {
  const rows = await db
    .selectFrom('conversation_topics')
    .select(['topic_id', 'name'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .orderBy('name')
    .execute()
  return rows.flatMap(({ topic_id, name }) => (topic_id === null ? [] : [{ id: topic_id, name }]))
}
