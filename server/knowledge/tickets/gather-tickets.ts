import { planTicketSync } from '../../agents/records/knowledge-state.ts'
import type { Context } from '../../context.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Account } from '../sources/add-source.ts'
import { WEEK_MS } from '../training/resync/eligible.ts'
import { dropStaleTickets } from './drop-ticket-sources.ts'
import { keepTicket } from './keep-ticket.ts'

/** The background job that brings an agent's ticket sources in line with its solved tickets. */
export const GATHER_TICKETS = 'gather-tickets'

export type GatherTickets = { agentId: string }

type Deps = Pick<Context, 'db' | 'jobs' | 'log' | 'solvedTickets'>

const PAGE = 100
/** The newest tickets are used, because old answers are the most likely to be outdated. */
const MAX_COUNT = 2_000
/** The largest number that the column holds. */
const ABOVE_ALL = 2_147_483_647

/** Makes one source of each solved ticket of an agent whose switch is on. May run twice. */
export async function gatherTickets(ctx: Deps, { agentId }: GatherTickets): Promise<void> {
  const account = await accountOf(ctx, agentId)
  if (!account) return
  const useless: string[] = []
  let seen = 0
  let hasRoom = true
  for (let below = ABOVE_ALL; seen < MAX_COUNT; ) {
    const tickets = await ctx.solvedTickets.closed(
      ctx.db,
      { accountId: account.id, agentId },
      { below, limit: PAGE },
    )
    for (const ticket of tickets) {
      const solved = await ctx.solvedTickets.read(ctx.db, ticket)
      if (!solved) useless.push(ticket.id)
      else if (hasRoom) hasRoom = await keep(ctx, account, agentId, solved)
    }
    seen += tickets.length
    below = tickets.at(-1)?.number ?? 0
    if (tickets.length < PAGE) break
  }
  await dropStaleTickets(ctx, { accountId: account.id, agentId }, useless)
  await planTicketSync(ctx.db, { id: agentId, account_id: account.id }, new Date(Date.now() + WEEK_MS))
}

async function keep(
  ctx: Deps,
  account: Account,
  agentId: string,
  solved: Parameters<typeof keepTicket>[3],
): Promise<boolean> {
  try {
    await keepTicket(ctx, account, agentId, solved)
    return true
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'SOURCE_SIZE_LIMIT_EXCEEDED')) throw error
    ctx.log.warn({ agent: agentId }, 'the plan has no room for more solved tickets')
    return false
  }
}

async function accountOf({ db }: Deps, agentId: string): Promise<Account | undefined> {
  return db
    .selectFrom('agents')
    .innerJoin('accounts', 'accounts.id', 'agents.account_id')
    .select(['accounts.id', 'accounts.plan'])
    .where('agents.id', '=', agentId)
    .where('agents.ticket_knowledge', '=', true)
    .executeTakeFirst()
}
