import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { commaList } from '../../platform/http/contract.ts'
import { invalidField } from '../../platform/http/errors.ts'
import { decodeCursor, encodeCursor, fingerprint } from '../../platform/http/pagination.ts'
import type { Caller } from '../../platform/http/route.ts'
import { beyond, conditionsOf } from '../tickets/list-tickets.ts'
import { presentListedTicket } from '../tickets/present.ts'
import type { TicketRow } from '../tickets/ticket-queries.ts'
import type { listInboxTickets } from './contract.ts'
import { type InboxTicket, MAX_COUNTED } from './schema.ts'

type Query = Static<typeof listInboxTickets.query>
type InboxFilters = Omit<Query, 'cursor' | 'limit' | 'sortBy' | 'order'>

/** What a row of the list shows besides the ticket. */
type Shown = {
  last_text: string | null
  last_sender: { type: 'customer' | 'agent' | 'system'; name: string | null } | null
  last_at: Date | null
  tags: { id: string; name: string; color: string }[]
  is_unread: boolean
  /** The value that the list is ordered by. */
  place: Date
}

const FIRST = sql`timestamptz '1970-01-01 00:00:00+00'`
const LAST = sql`timestamptz '9999-12-31 00:00:00+00'`

/** As in the indexes of 0159_team_inbox_indexes.sql. */
const SORTS: Record<Query['sortBy'], RawBuilder<unknown>> = {
  updatedAt: sql`updated_at`,
  createdAt: sql`created_at`,
  lastMessageAt: sql`coalesce(last_message_at, ${FIRST})`,
  waitingSince: sql`coalesce(waiting_since, ${LAST})`,
  dueAt: sql`coalesce(due_at, ${LAST})`,
}

/** The most characters that a row shows of a text. */
const SHOWN = 200

/**
 * Returns a page of the tickets of all agents that the caller may see. Throws VALIDATION_INVALID_CURSOR, and
 * VALIDATION_INVALID_BODY for `me` without a member.
 */
export async function listInbox(
  db: Db,
  caller: Caller,
  query: Query,
): Promise<{ data: Static<typeof InboxTicket>[]; cursor: string | null; hasMore: boolean }> {
  const { cursor, limit, sortBy, order, ...filters } = query
  const accountId = caller.account.id
  const memberId = caller.member?.id ?? null
  const print = fingerprint('inbox', accountId, memberId, sortBy, order, filters)
  const direction = order === 'asc' ? sql`asc` : sql`desc`
  const key = SORTS[sortBy]
  const position = decodeCursor(cursor, print)
  const { rows } = await sql<TicketRow & Shown>`
    with page as (
      select tickets.*, ${key} as place from tickets
      where ${sql.join(filtersOf(caller, filters), sql` and `)} and ${beyond(key, order, position)}
      order by ${key} ${direction}, id ${direction} limit ${limit + 1})
    select page.*, last.content_text as last_text, last.sender as last_sender, last.created_at as last_at,
      tagged.tags, ${isUnread('page', accountId, memberId)} as is_unread
    from page
    left join lateral (
      select left(content_text, ${sql.lit(SHOWN)}) as content_text, sender, created_at from ticket_messages
      where account_id = ${accountId} and ticket_id = page.id and type = 'reply'
      order by created_at desc, id desc limit 1) as last on true
    cross join lateral (
      select coalesce(json_agg(json_build_object('id', ticket_tags.id, 'name', name, 'color', color)
        order by lower(name)), '[]') as tags
      from tagged_tickets join ticket_tags on ticket_tags.id = tag_id
      where tagged_tickets.account_id = ${accountId} and ticket_tags.account_id = ${accountId}
        and ticket_id = page.id) as tagged
    order by place ${direction}, id ${direction}`.execute(db)
  const kept = rows.slice(0, limit)
  const end = kept.at(-1)
  const hasMore = rows.length > limit
  return {
    data: kept.map(present),
    hasMore,
    cursor: hasMore && end ? encodeCursor({ value: end.place.toISOString(), id: end.id }, print) : null,
  }
}

/** Returns how many tickets a view holds, at most MAX_COUNTED; null for a key if it depends on who reads it. */
export async function countInbox(db: Db, caller: Caller, filters: InboxFilters): Promise<number | null> {
  if (!caller.member && isOfReader(filters)) return null
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from (
      select from tickets where ${sql.join(filtersOf(caller, filters), sql` and `)} limit ${MAX_COUNTED}) as held`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}

function filtersOf(caller: Caller, filters: InboxFilters): RawBuilder<unknown>[] {
  const { agentId, unread, ...others } = filters
  const { account, member } = caller
  const wanted = agentId === undefined ? null : commaList(agentId)
  const allowed = member?.agentIds ?? null
  const agentIds = wanted && allowed ? wanted.filter((id) => allowed.includes(id)) : (wanted ?? allowed)
  return [
    ...conditionsOf(
      { accountId: account.id, agentIds },
      {
        ...others,
        ...(others.assigneeId === undefined
          ? {}
          : { assigneeId: withMe(caller, 'assigneeId', others.assigneeId) }),
        ...(others.mentionedId === undefined
          ? {}
          : { mentionedId: withMe(caller, 'mentionedId', others.mentionedId) }),
      },
    ),
    ...(unread === undefined
      ? []
      : [sql`${isUnread('tickets', account.id, requireMe(caller, 'unread'))} = ${unread}`]),
  ]
}

const isOfReader = ({ unread, assigneeId, mentionedId }: InboxFilters): boolean =>
  unread !== undefined || commaList(assigneeId).includes('me') || mentionedId === 'me'

const withMe = (caller: Caller, field: string, list: string): string =>
  commaList(list)
    .map((id) => (id === 'me' ? requireMe(caller, field) : id))
    .join(',')

function requireMe({ member }: Caller, field: string): string {
  if (member) return member.id
  throw invalidField(field, 'An API key has no tickets of its own. Name a member by their id.')
}

function isUnread(table: 'page' | 'tickets', accountId: AccountId, memberId: string | null) {
  if (memberId === null) return sql`false`
  const of = (column: string) => sql.ref(`${table}.${column}`)
  return sql`(${of('status_category')} in ('new', 'on_you') and not exists (
    select from seen_tickets where seen_tickets.account_id = ${accountId} and ticket_id = ${of('id')}
      and member_id = ${memberId}::uuid
      and seen_until >= coalesce(${of('last_message_at')}, ${of('created_at')})))`
}

const present = (row: TicketRow & Shown): Static<typeof InboxTicket> => ({
  agentId: row.agent_id,
  ...presentListedTicket(row),
  description: row.description?.slice(0, SHOWN) ?? null,
  lastMessage:
    row.last_at === null
      ? null
      : {
          text: row.last_text ?? '',
          author: row.last_sender?.type ?? 'system',
          name: row.last_sender?.name ?? null,
          at: row.last_at.toISOString(),
        },
  tags: row.tags,
  language: row.language,
  waitingSince: row.waiting_since?.toISOString() ?? null,
  dueAt: row.due_at?.toISOString() ?? null,
  isUnread: row.is_unread,
})
