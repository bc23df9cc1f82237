import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../../platform/db/refs.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { UnansweredGroupsTable } from '../../../platform/db/tables/insights.ts'
import type { Position } from '../../../platform/http/pagination.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import type { UnansweredGroup } from './schema.ts'

export type GroupRow = Selectable<UnansweredGroupsTable>
type Shown = Static<typeof UnansweredGroup>

const EXAMPLES = 3

/** Returns up to `limit` + 1 groups, those with the most questions first, and their total number. */
export async function listGroupRows(
  db: Db,
  accountId: AccountId,
  { agentId, status }: { agentId: string; status: GroupRow['status'] },
  page: { limit: number; position: Position | null },
): Promise<{ rows: GroupRow[]; total: number }> {
  let query = db
    .selectFrom('unanswered_groups')
    .where(ofAgent({ accountId, agentId }))
    .where('status', '=', status)
    // A group without questions is about to be deleted.
    .where('count', '>', 0)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (page.position) {
    const { value, id } = page.position
    query = query.where(sql<boolean>`(count, id) < (${Number(value)}::integer, ${id}::uuid)`)
  }
  const rows = await query
    .selectAll()
    .orderBy('count', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total }
}

/** Returns the group. Throws RESOURCE_NOT_FOUND. */
export async function requireGroup(db: Db, ref: AgentRef, id: string): Promise<GroupRow> {
  return requireRow(
    db.selectFrom('unanswered_groups').selectAll().where(ofAgent(ref)).where('count', '>', 0),
    id,
    'The question does not exist.',
  )
}

type Detail = {
  id: string
  examples: { question: string; conversationId: string; messageId: string; askedAt: string }[]
  suggestedAnswer: string | null
}

/** Returns groups with their newest questions and the newest answer of a person. */
export async function presentGroups(
  db: Db,
  accountId: AccountId,
  groups: readonly GroupRow[],
): Promise<Shown[]> {
  if (groups.length === 0) return []
  const { rows } = await sql<Detail>`
    select g.id,
      (select coalesce(jsonb_agg(jsonb_build_object('question', q.question, 'conversationId', q.conversation_id,
          'messageId', q.message_id, 'askedAt', q.asked_at) order by q.asked_at desc), '[]')
        from (select * from unanswered_questions where group_id = g.id order by asked_at desc limit ${EXAMPLES}) as q)
        as examples,
      (select suggested_answer from unanswered_questions where group_id = g.id and suggested_answer is not null
        order by asked_at desc limit 1) as "suggestedAnswer"
    from unanswered_groups g
    where g.account_id = ${accountId} and g.id = any(${groups.map(({ id }) => id)}::uuid[])`.execute(db)
  const details = new Map(rows.map((row) => [row.id, row]))
  return groups.map((group) => {
    const { examples = [], suggestedAnswer = null } = details.get(group.id) ?? {}
    return {
      id: group.id,
      question: group.question,
      status: group.status,
      count: group.count,
      lastAskedAt: group.last_asked_at.toISOString(),
      examples: examples.map((one) => ({ ...one, askedAt: new Date(one.askedAt).toISOString() })),
      suggestedAnswer,
      sourceId: group.source_id,
      askedAgainAt: group.asked_again_at?.toISOString() ?? null,
    }
  })
}
