import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import { isId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
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
  const scope = { accountId: ref.accountId, agentIds: [ref.agentId] }
  const filter = sql.join(conditionsOf(scope, wanted), sql` and `)
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

export function beyond(
  key: RawBuilder<unknown>,
  order: 'asc' | 'desc',
  position: Position | null,
): RawBuilder<unknown> {
  if (!position) return sql`true`
  const than = order === 'asc' ? sql`>` : sql`<`
  return sql`(${key}, id) ${than} (${position.value}::timestamptz, ${position.id}::uuid)`
}

/** What a list of tickets may be filtered by. Lists are separated by commas. */
type Filters = Partial<
  Record<'status' | 'channel' | 'assigneeId' | 'teamId' | 'priority' | 'tagId' | 'mentionedId', string>
> &
  Partial<Record<'createdAfter' | 'createdBefore' | 'tag' | 'language' | 'attribute', string>> & {
    spam?: boolean
    snoozed?: boolean
    target?: 'missed' | 'running'
    /** Minutes. */
    dueWithin?: number
    waitingFor?: number
  }

/** Returns the conditions on a row of `tickets`; `agentIds` null: all agents of the account. */
export function conditionsOf(
  { accountId, agentIds }: { accountId: AccountId; agentIds: readonly string[] | null },
  wanted: Filters,
): RawBuilder<unknown>[] {
  const { channel, priority, tagId, tag, language, attribute, mentionedId } = wanted
  const { createdAfter, createdBefore, target, dueWithin, waitingFor } = wanted
  return [
    sql`account_id = ${accountId}`,
    ...(agentIds === null
      ? []
      : [
          agentIds.length === 1
            ? sql`agent_id = ${agentIds[0]}`
            : sql`agent_id = any(${[...agentIds]}::text[])`,
        ]),
    wanted.spam ? sql`spam_at is not null` : sql`spam_at is null`,
    ...(wanted.status === undefined ? [] : [statusIs(wanted.status)]),
    ...(channel === undefined ? [] : [sql`channel = any(${commaList(channel)}::text[])`]),
    ...(wanted.assigneeId === undefined ? [] : [idIsIn('assignee_id', wanted.assigneeId)]),
    ...(wanted.teamId === undefined ? [] : [idIsIn('team_id', wanted.teamId)]),
    ...(priority === undefined ? [] : [sql`priority = any(${commaList(priority)}::text[])`]),
    ...(tagId === undefined
      ? []
      : [
          sql`exists (select from tagged_tickets where ticket_id = tickets.id and ${isId(tagId) ? sql`tag_id = ${tagId}::uuid` : sql`false`})`,
        ]),
    ...(tag === undefined ? [] : [hasTag(accountId, commaList(tag))]),
    ...(language === undefined ? [] : [sql`language = any(${commaList(language)}::text[])`]),
    ...(attribute === undefined ? [] : commaList(attribute).map((one) => hasAttribute(accountId, one))),
    ...(mentionedId === undefined ? [] : [mentions(mentionedId)]),
    ...(wanted.snoozed === undefined
      ? []
      : [wanted.snoozed ? sql`wakes_at is not null` : sql`wakes_at is null`]),
    ...(target === undefined ? [] : [target === 'missed' ? sql`due_at <= now()` : sql`due_at > now()`]),
    ...(dueWithin === undefined ? [] : [sql`due_at <= now() + ${dueWithin} * interval '1 minute'`]),
    ...(waitingFor === undefined ? [] : [sql`waiting_since <= now() - ${waitingFor} * interval '1 minute'`]),
    ...(createdAfter === undefined ? [] : [sql`created_at >= ${spanOf(createdAfter).from}`]),
    ...(createdBefore === undefined ? [] : [sql`created_at <= ${spanOf(createdBefore).until}`]),
  ]
}

/** The list may contain `none`. What is no id matches nothing. */
function idIsIn(column: 'assignee_id' | 'team_id', list: string): RawBuilder<unknown> {
  const wanted = commaList(list)
  const ids = wanted.filter(isId)
  const is = ids.length === 1 ? sql`= ${ids[0]}::uuid` : sql`= any(${ids}::uuid[])`
  const alternatives = [
    ...(wanted.includes('none') ? [sql`${sql.ref(column)} is null`] : []),
    ...(ids.length > 0 ? [sql`${sql.ref(column)} ${is}`] : []),
  ]
  return alternatives.length === 0 ? sql`false` : sql`(${sql.join(alternatives, sql` or `)})`
}

const hasTag = (accountId: AccountId, names: string[]): RawBuilder<unknown> => sql`exists (
  select from tagged_tickets join ticket_tags on ticket_tags.id = tagged_tickets.tag_id
  where tagged_tickets.account_id = ${accountId} and ticket_tags.account_id = ${accountId}
    and tagged_tickets.ticket_id = tickets.id
    and lower(ticket_tags.name) = any(${names.map((name) => name.toLowerCase())}::text[]))`

function hasAttribute(accountId: AccountId, text: string): RawBuilder<unknown> {
  const at = text.indexOf(':')
  const [name, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
  return sql`exists (
    select from conversations join contacts on contacts.id = conversations.contact_id
    where conversations.account_id = ${accountId} and contacts.account_id = ${accountId}
      and conversations.id = tickets.conversation_id
      and lower(contacts.custom_attributes ->> ${name}) = ${value.toLowerCase()}
      and exists (select from custom_attributes where custom_attributes.account_id = ${accountId}
        and custom_attributes.agent_id = tickets.agent_id and custom_attributes.name = ${name} and not archived))`
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
