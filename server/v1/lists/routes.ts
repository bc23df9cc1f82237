import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { messagesToExport } from '../../conversations/exports/queries.ts'
import { linkHostsOf } from '../../knowledge/sources/link-hosts.ts'
import { readDateRange } from '../../platform/http/input/dates.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { linksTo } from '../../platform/text/safety/foreign-links.ts'
import { presentConversation, presentLead } from '../present.ts'
import * as contract from './contract.ts'
import { conversationsOfPage, leadsOfPage } from './list-queries.ts'

export const listRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.listConversations, async ({ caller: { account }, query }) => {
    const { chatbotId: agentId, filteredSources } = query
    const filter = { agentId, ...readDateRange(query), sources: sourcesOf(filteredSources) }
    await requireAgent(ctx.db, { accountId: account.id, agentId })
    const rows = await conversationsOfPage(ctx.db, account.id, filter, query)
    const ids = rows.map(({ id }) => id)
    const messages = await messagesToExport(ctx.db, account.id, ids)
    const mayLink = linksTo(await linkHostsOf(ctx.db, { accountId: account.id, agentId }))
    return { data: rows.map((row) => presentConversation(row, messages.get(row.id) ?? [], mayLink)) }
  }),

  route(contract.listLeads, async ({ caller: { account }, query }) => {
    const { chatbotId: agentId } = query
    const filter = { agentId, ...readDateRange(query) }
    await requireAgent(ctx.db, { accountId: account.id, agentId })
    const rows = await leadsOfPage(ctx.db, account.id, filter, query)
    return { collectedCustomers: rows.map(presentLead) }
  }),
]

/** Any string is accepted as a source; an unknown one matches nothing. Without a source, nothing is filtered. */
function sourcesOf(list = ''): string[] | null {
  const sources = list.split(',').map((source) => source.trim().toLowerCase())
  const named = sources.filter((source) => source !== '')
  return named.length > 0 ? named : null
}
