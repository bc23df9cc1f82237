import type { Context } from '../../context.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { commaList } from '../../platform/http/contract.ts'
import { readDateRange } from '../../platform/http/input/dates.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { conversationTotal } from '../records/conversation-lists.ts'
import type { ConversationRow } from '../records/queries.ts'
import { addressesOf } from '../records/source-address.ts'
import { readFilters } from '../search/query/read-filters.ts'
import { createSearch } from '../search/query/search-conversations.ts'
import { exportConversations, exportFoundConversations } from './contract.ts'
import { countThatFits } from './count-that-fits.ts'
import { foundConversationLines, PAGE } from './found-conversation-lines.ts'
import { type ExportedConversation, exportedMessage, exportedSummary } from './present.ts'
import { conversationsToExport, conversationToExport, messagesToExport } from './queries.ts'
import { sendLines } from './send-lines.ts'

export const exportRoutes = (ctx: Pick<Context, 'config' | 'db' | 'secrets'>): Route[] => [
  route(
    exportFoundConversations,
    { check: ({ params, query }) => readFilters(params.agentId, { ...query, limit: PAGE }, new Date()) },
    async ({ ref: { accountId }, checked, query, reply }) => {
      const search = (cursor: string | undefined) =>
        searching(ctx.db, accountId, checked, {
          ...query,
          limit: PAGE,
          ...(cursor === undefined ? {} : { cursor }),
        })
      return sendLines(reply, foundConversationLines(ctx.db, accountId, search))
    },
  ),

  route(
    exportConversations,
    { check: ({ query }) => readDateRange(query) },
    async ({ ref, checked, query }) => {
      const { accountId, agentId } = ref
      const withMessages = query.include === 'messages'
      if (query.conversationId !== undefined) {
        const row = await conversationToExport(ctx.db, ref, query.conversationId)
        const data = await exported(ctx, accountId, row ? [row] : [], withMessages)
        return { data, pagination: { cursor: null, hasMore: false, total: data.length } }
      }
      const sources = query.source === undefined ? null : commaList(query.source)
      const filter = { agentId, sources, ...checked }
      const print = fingerprint('export', filter, query.include)
      const position = decodeCursor(query.cursor, print)
      const rows = await conversationsToExport(ctx.db, accountId, filter, { limit: query.limit, position })
      const limit = withMessages ? countThatFits(rows.slice(0, query.limit)) : query.limit
      const total = await conversationTotal(ctx.db, accountId, filter)
      const { data, pagination } = pageOf(rows, limit, total, print, byCreation, (row) => row)
      return { data: await exported(ctx, accountId, data, withMessages), pagination }
    },
  ),
]

const searching = createSearch()

async function exported(
  ctx: Pick<Context, 'config' | 'db' | 'secrets'>,
  accountId: AccountId,
  rows: ConversationRow[],
  withMessages: boolean,
): Promise<ExportedConversation[]> {
  if (!withMessages) return rows.map(exportedSummary)
  const messages = await messagesToExport(
    ctx.db,
    accountId,
    rows.map(({ id }) => id),
  )
  const addresses = addressesOf(ctx)
  return rows.map((row) => ({
    ...exportedSummary(row),
    messages: (messages.get(row.id) ?? []).map((message) =>
      exportedMessage(message, addresses, { includeReasoning: true }),
    ),
  }))
}
