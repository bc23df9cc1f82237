import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ConversationRow } from '../records/queries.ts'
import type { SearchPage } from '../search/query/search-conversations.ts'
import { jsonLine, type Written } from './conversation-lines.ts'
import { exportedSummary } from './present.ts'

/** Conversations that are looked for at once. */
export const PAGE = 25

/** The conversations that a search finds as NDJSON, piece by piece (contract.ts, exportFoundConversations). */
export async function* foundConversationLines(
  db: Db,
  accountId: AccountId,
  search: (cursor: string | undefined) => Promise<SearchPage>,
): AsyncGenerator<string> {
  const written: Written = { conversations: 0, messages: 0 }
  for (let cursor: string | undefined; ; ) {
    const { data, pagination } = await search(cursor)
    for (const row of await rowsOf(
      db,
      accountId,
      data.map(({ id }) => id),
    )) {
      written.conversations++
      yield* jsonLine(db, row, { type: 'conversation', ...exportedSummary(row) }, written)
    }
    if (!pagination.hasMore || pagination.cursor === null) break
    cursor = pagination.cursor
  }
  yield `${JSON.stringify({ type: 'end', ...written })}\n`
}

/** In the order of the ids; conversations that were deleted meanwhile are left out. */
async function rowsOf(db: Db, accountId: AccountId, ids: string[]): Promise<ConversationRow[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
