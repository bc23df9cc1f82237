import { sql } from 'kysely'
import { sourcesOf } from '../../conversations/records/conversation-lists.ts'
import type { ConversationRow } from '../../conversations/records/queries.ts'
import { PLAYGROUND } from '../../conversations/records/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import { ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DateRange } from '../../platform/http/input/dates.ts'

/** `page` counts from 1. */
type Page = { page: number; size: number }
type Filter = { agentId: string } & DateRange

/**
 * Returns conversations from the sources (in lower case; null for all), newest first. The newest of each source are
 * read by index, then merged.
 */
export async function conversationsOfPage(
  db: Db,
  accountId: AccountId,
  { agentId, from, until, sources }: Filter & { sources: string[] | null },
  { page, size }: Page,
): Promise<ConversationRow[]> {
  const all = await sourcesOf(db, { accountId, agentId })
  const wanted = sources
    ? [...all, PLAYGROUND].filter((source) => sources.includes(source.toLowerCase()))
    : all
  const { rows } = await sql<ConversationRow>`
    select found.* from unnest(${wanted}::text[]) as wanted (source)
    cross join lateral (
      select * from conversations where account_id = ${accountId} and agent_id = ${agentId}
        and source = wanted.source and not transient
        and ${from ? sql`created_at >= ${from}` : sql`true`} and ${until ? sql`created_at <= ${until}` : sql`true`}
      order by created_at desc, id desc limit ${page * size}
    ) as found
    order by found.created_at desc, found.id desc limit ${size} offset ${(page - 1) * size}`.execute(db)
  return rows
}

/** Newest first. */
export function leadsOfPage(
  db: Db,
  accountId: AccountId,
  { agentId, from, until }: Filter,
  { page, size }: Page,
) {
  let query = db.selectFrom('leads').selectAll().where(ofAgent({ accountId, agentId }))
  if (from) query = query.where('created_at', '>=', from)
  if (until) query = query.where('created_at', '<=', until)
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size)
    .offset((page - 1) * size)
    .execute()
}
