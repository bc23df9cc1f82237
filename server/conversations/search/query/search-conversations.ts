import type { Static } from 'typebox'
import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { decodeCursor, encodeCursor, fingerprint } from '../../../platform/http/pagination.ts'
import { presentConversation } from '../../records/present.ts'
import type { ConversationRow } from '../../records/queries.ts'
import type { searchConversations } from '../contract.ts'
import { createStemmers, type Stemmers } from '../index/stemmers.ts'
import { findByActivity } from './find-by-activity.ts'
import { findByRank, type Reach, usualReach } from './find-by-rank.ts'
import { findSnippets, type Snippet } from './find-snippets.ts'
import { parseQuery, type Term } from './parse-query.ts'
import { decodeRank, encodeRank, isRankValue } from './rank-cursor.ts'
import type { Filters, SearchQuery } from './read-filters.ts'

export type SearchPage = Static<typeof searchConversations.success.schema>

/** Creates a search that caches its stemmers. Throws VALIDATION_INVALID_CURSOR. */
export function createSearch(reach = usualReach) {
  const stem = createStemmers()
  return async (db: Db, accountId: AccountId, filters: Filters, query: SearchQuery): Promise<SearchPage> => {
    const { limit, cursor, ...asked } = query
    const text = query.query?.trim() ?? ''
    const print = fingerprint('search', filters.agentId, Object.entries(asked).sort())
    const { createdFrom, createdUntil, activeUntil } = filters
    const isBefore = (until: Date | null): boolean => until !== null && until < createdFrom
    // Nothing in the search is that old.
    if (isBefore(createdUntil) || isBefore(activeUntil)) return NOTHING
    if (text === '') return byActivity(db, accountId, filters, { limit, cursor, print })
    const terms = parseQuery(text, stem)
    if (terms.length === 0) return NOTHING
    return byRank(db, accountId, filters, terms, stem, { limit, cursor, print, reach })
  }
}

const NOTHING: SearchPage = { data: [], pagination: { cursor: null, hasMore: false } }

type Page = { limit: number; cursor: string | undefined; print: string }

async function byActivity(
  db: Db,
  accountId: AccountId,
  filters: Filters,
  { limit, cursor, print }: Page,
): Promise<SearchPage> {
  const position = decodeCursor(cursor, print)
  const rows = await findByActivity(db, accountId, filters, { limit, position })
  const kept = rows.slice(0, limit)
  const last = kept.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  const found = await conversationsOf(db, accountId, kept)
  return {
    data: found.map((row) => present(row, null)),
    pagination: {
      cursor: hasMore ? encodeCursor({ value: last.updated_at.toISOString(), id: last.id }, print) : null,
      hasMore,
    },
  }
}

async function byRank(
  ...[db, accountId, filters, terms, stem, { limit, cursor, print, reach }]: [
    Db,
    AccountId,
    Filters,
    Term[],
    Stemmers,
    Page & { reach: Reach },
  ]
): Promise<SearchPage> {
  const decoded = decodeCursor(cursor, print, isRankValue)
  const position = decoded ? decodeRank(decoded) : null
  const { rows, next } = await findByRank({ db, accountId, filters, terms }, { limit, position }, reach)
  const found = await conversationsOf(db, accountId, rows)
  const snippets = await findSnippets(db, accountId, found, terms, stem)
  return {
    data: found.flatMap((row) => {
      const snippet = snippets.get(row.id)
      return snippet === undefined ? [] : [present(row, snippet)]
    }),
    pagination: { cursor: next ? encodeCursor(encodeRank(next), print) : null, hasMore: next !== null },
  }
}

const present = (row: ConversationRow, snippet: Snippet | null): SearchPage['data'][number] => ({
  ...presentConversation(row),
  source: row.source,
  embedOrigin: row.embed_origin,
  snippet,
})

/** Returns the rows in the order of the hits; those deleted meanwhile are left out. */
async function conversationsOf(
  db: Db,
  accountId: AccountId,
  hits: readonly { id: string }[],
): Promise<ConversationRow[]> {
  if (hits.length === 0) return []
  const ids = hits.map(({ id }) => id)
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
