import { requireAgent } from '../agents/records/find-agent.ts'
import type { Context } from '../context.ts'
import type { ConversationRow } from '../conversations/records/queries.ts'
import { addressesOf } from '../conversations/records/source-address.ts'
import { conversationTotal } from '../conversations/records/totals.ts'
import type { AccountId } from '../db/tables/columns.ts'
import { commaList } from '../http/input/comma-list.ts'
import { readDateRange } from '../http/input/dates.ts'
import { byCreation, decodeCursor, fingerprint, pageOf } from '../http/pagination.ts'
import { type Route, route } from '../http/route.ts'
import { readFilters } from '../search/query/read-filters.ts'
import { createSearch } from '../search/query/search-conversations.ts'
import { exportConversations, exportFoundConversations } from './contract.ts'
import { foundLines, PAGE } from './found-lines.ts'
import { type ExportedConversation, exportedMessage, exportedSummary } from './present.ts'
import { conversationsToExport, conversationToExport, messagesToExport } from './queries.ts'
import { sendLines } from './send-lines.ts'
import { untilFull } from './until-full.ts'

export const exportRoutes = (ctx: Context): Route[] => [
  route(exportFoundConversations, async ({ caller: { account }, params: { agentId }, query, reply }) => {
    const filters = readFilters(agentId, { ...query, limit: PAGE }, new Date())
    await requireAgent(ctx.db, account.id, agentId)
    const search = (cursor: string | undefined) =>
      searching(ctx.db, account.id, filters, { ...query, limit: PAGE, cursor })
    return sendLines(reply, foundLines(ctx.db, account.id, search))
  }),

  route(exportConversations, async ({ caller: { account }, params: { agentId }, query }) => {
    const range = readDateRange(query)
    await requireAgent(ctx.db, account.id, agentId)
    const withMessages = query.include === 'messages'
    if (query.conversationId !== undefined) {
      const row = await conversationToExport(ctx.db, account.id, agentId, query.conversationId)
      const data = await exported(ctx, account.id, row ? [row] : [], withMessages)
      return { data, pagination: { cursor: null, hasMore: false, total: data.length } }
    }
    const sources = query.source === undefined ? null : commaList(query.source)
    const filter = { agentId, sources, ...range }
    const print = fingerprint('export', filter, query.include)
    const position = decodeCursor(query.cursor, print)
    const rows = await conversationsToExport(ctx.db, account.id, filter, { limit: query.limit, position })
    const limit = withMessages ? untilFull(rows.slice(0, query.limit)) : query.limit
    const total = await conversationTotal(ctx.db, account.id, filter)
    const { data, pagination } = pageOf(rows, limit, total, print, byCreation, (row) => row)
    return { data: await exported(ctx, account.id, data, withMessages), pagination }
  }),
]

const searching = createSearch()

async function exported(
  ctx: Context,
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
    messages: (messages.get(row.id) ?? []).map((message) => exportedMessage(message, addresses)),
  }))
}
