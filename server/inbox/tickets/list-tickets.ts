import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { commaList } from '../../platform/http/contract.ts'
import { spanOf } from '../../platform/http/input/dates.ts'
import { decodeCursor, encodeCursor, fingerprint, type Position } from '../../platform/http/pagination.ts'
import type { listTickets } from '../contract.ts'
import { statusCategories } from './schema.ts'
import type { TicketRow } from './ticket-queries.ts'

type Query = Static<typeof listTickets.query>
type Page = { rows: TicketRow[]; cursor: string | null; hasMore: boolean; total: number | null }

/** As in the indexes of 0014_helpdesk.sql, tickets without messages are older than all others. */
const SORTS = {
  createdAt: { key: sql`created_at`, of: (row: TicketRow) => row.created_at },
  updatedAt: { key: sql`updated_at`, of: (row: TicketRow) => row.updated_at },
  lastMessageAt: {
    key: sql`coalesce(last_message_at, timestamptz '1970-01-01 00:00:00+00')`,
    of: (row: TicketRow) => row.last_message_at ?? new Date(0),
  },
}

/** Returns a page of the agent's tickets. Throws VALIDATION_INVALID_CURSOR. */
export async function findTickets(db: Db, ref: AgentRef, query: Query): Promise<Page> {
  const { cursor, limit, includeTotal, ...wanted } = query
  const { sortBy, order } = wanted
  const print = fingerprint('tickets', ref.agentId, wanted)
  const position = decodeCursor(cursor, print)
  const filter = sql.join(conditionsOf(ref, wanted), sql` and `)
  const { key, of } = SORTS[sortBy]
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const { rows } = await sql<TicketRow>`
    select * from tickets where ${filter} and ${beyond(key, order, position)}
    order by ${key} ${direction}, id ${direction} limit ${limit + 1}`.execute(db)
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > limit
  return {
    rows: kept,
    hasMore,
    cursor: hasMore && last ? encodeCursor({ value: of(last).toISOString(), id: last.id }, print) : null,
    total: includeTotal ? await count(db, filter) : null,
  }
}

async function count(db: Db, filter: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from tickets where ${filter}`.execute(db)
  return Number(rows[0]?.n ?? 0)
}

function beyond(
  key: RawBuilder<unknown>,
  order: 'asc' | 'desc',
  position: Position | null,
): RawBuilder<unknown> {
  if (!position) return sql`true`
  const than = order === 'asc' ? sql`>` : sql`<`
  return sql`(${key}, id) ${than} (${position.value}::timestamptz, ${position.id}::uuid)`
}

function conditionsOf({ accountId, agentId }: AgentRef, wanted: Partial<Query>): RawBuilder<unknown>[] {
  const { channel, assigneeId, teamId, priority, tagId, mentionedId } = wanted
  const { createdAfter, createdBefore } = wanted
  const idIs = (column: string, id: string): RawBuilder<unknown> =>
    id === 'none'
      ? sql`${sql.ref(column)} is null`
      : isId(id)
        ? sql`${sql.ref(column)} = ${id}::uuid`
        : sql`false`
  return [
    sql`account_id = ${accountId}`,
    sql`agent_id = ${agentId}`,
    wanted.spam ? sql`spam_at is not null` : sql`spam_at is null`,
    ...(wanted.status === undefined ? [] : [statusIs(wanted.status)]),
    ...(channel === undefined ? [] : [sql`channel = any(${commaList(channel)}::text[])`]),
    ...(assigneeId === undefined ? [] : [idIs('assignee_id', assigneeId)]),
    ...(teamId === undefined ? [] : [idIs('team_id', teamId)]),
    ...(priority === undefined ? [] : [sql`priority = any(${commaList(priority)}::text[])`]),
    ...(tagId === undefined
      ? []
      : [
          sql`exists (select from tagged_tickets where ticket_id = tickets.id and ${isId(tagId) ? sql`tag_id = ${tagId}::uuid` : sql`false`})`,
        ]),
    ...(mentionedId === undefined ? [] : [mentions(mentionedId)]),
    ...(createdAfter === undefined ? [] : [sql`created_at >= ${spanOf(createdAfter).from}`]),
    ...(createdBefore === undefined ? [] : [sql`created_at <= ${spanOf(createdBefore).until}`]),
  ]
}

const mentions = (memberId: string): RawBuilder<unknown> =>
  sql`exists (select from ticket_messages where ticket_id = tickets.id and type = 'note' and metadata ? 'mentions'
    and metadata -> 'mentions' @> ${json([{ id: memberId }])})`

const isCategory = (item: string): boolean => statusCategories.some((category) => category === item)

/** The list may contain both categories and ids of statuses. */
function statusIs(list: string): RawBuilder<unknown> {
  const wanted = commaList(list)
  const categories = wanted.filter(isCategory)
  const ids = wanted.filter((item) => !isCategory(item))
  if (ids.length === 0 && categories.length === 1) return sql`status_category = ${categories[0]}`
  return sql`(status_category = any(${categories}::text[]) or status_id = any(${ids}::uuid[]))`
}
