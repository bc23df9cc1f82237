import type { Selectable } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { TopicsTable } from '../../../platform/db/tables/insights.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { after, type Position } from '../../../platform/http/pagination.ts'

export type TopicRow = Selectable<TopicsTable>

/** The most topics of an agent; a model reads all of them with each conversation. */
export const AGENT_TOPICS = 100

/** Returns up to `limit` + 1 topics, newest first, and their total number. */
export async function listTopicRows(
  db: Db,
  { accountId, agentId }: AgentRef,
  page: { limit: number; position: Position | null },
): Promise<{ rows: TopicRow[]; total: number }> {
  let query = db.selectFrom('topics').where('account_id', '=', accountId).where('agent_id', '=', agentId)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (page.position) query = query.where(after('created_at', 'id', page.position))
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total }
}

/** Returns all topics of an agent, oldest first. */
export function topicsOf(db: Db, { accountId, agentId }: AgentRef): Promise<TopicRow[]> {
  return db
    .selectFrom('topics')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Returns the topic. Throws RESOURCE_NOT_FOUND. */
export async function requireTopic(db: Db, { accountId, agentId }: AgentRef, id: string): Promise<TopicRow> {
  const row = isId(id)
    ? await db
        .selectFrom('topics')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('agent_id', '=', agentId)
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The topic does not exist.' })
  return row
}

type TopicSettings = { frozen: boolean; declined: string[] }

export async function topicSettings(db: Db, { accountId, agentId }: AgentRef): Promise<TopicSettings> {
  const row = await db
    .selectFrom('topic_settings')
    .select(['frozen', 'declined'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
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
