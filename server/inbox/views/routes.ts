import type { Context } from '../../context.ts'
import type { Db } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { type Caller, type Route, route } from '../../platform/http/route.ts'
import { refuseInvalidChange } from '../tickets/check-ticket-references.ts'
import { changeTickets } from './change-tickets.ts'
import * as contract from './contract.ts'
import { countInbox, listInbox } from './list-inbox.ts'
import { createView, deleteView, updateView, type ViewRow, viewsOf } from './views.ts'

export const inboxRoutes = (ctx: Pick<Context, 'config' | 'db' | 'generations' | 'notifier'>): Route[] => [
  route(contract.listInboxTickets, async ({ caller, query }) => {
    const { data, cursor, hasMore } = await listInbox(ctx.db, caller, query)
    return { data, pagination: { cursor, hasMore } }
  }),

  route(
    contract.changeInboxTickets,
    { check: ({ body }) => refuseInvalidChange(body), idempotencyMode: 'response' },
    async ({ caller, body }) => ({ results: await changeTickets(ctx, caller, body) }),
  ),

  route(contract.listInboxViews, async ({ db, caller }) => {
    const counted: Awaited<ReturnType<typeof present>>[] = []
    // One after the other, because each may read many tickets.
    for (const row of await viewsOf(db, caller)) counted.push(await present(db, caller, row))
    return counted
  }),

  route(contract.createInboxView, async ({ db, caller, body }) =>
    present(db, caller, await transact(db, (trx) => createView(trx, caller, body))),
  ),

  route(contract.updateInboxView, async ({ db, caller, params, body }) =>
    present(db, caller, await updateView(db, caller, params.viewId, body)),
  ),

  route(contract.deleteInboxView, async ({ db, caller, params }) => {
    await deleteView(db, caller, params.viewId)
    return { success: true as const }
  }),
]

async function present(db: Db, caller: Caller, row: ViewRow) {
  const { sortBy: _sortBy, order: _order, ...filters } = row.query
  return {
    id: row.id,
    name: row.name,
    owner: row.member_id ? ('member' as const) : row.team_id ? ('team' as const) : ('all' as const),
    teamId: row.team_id,
    query: row.query,
    count: await countInbox(db, caller, filters),
  }
}
