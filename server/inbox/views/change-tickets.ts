import { sql } from 'kysely'
import type { Static } from 'typebox'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AgentRef, TicketRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { changeTags } from '../settings/tags.ts'
import { requireTicket } from '../tickets/ticket-queries.ts'
import { updateTicket } from '../tickets/update-ticket.ts'
import type { changeInboxTickets } from './contract.ts'

type Deps = Pick<Context, 'db' | 'notifier' | 'generations' | 'config'>
type Body = Static<typeof changeInboxTickets.body>
type Result = Static<typeof changeInboxTickets.success.schema>['results'][number]

/** Changes tickets alike, each in a transaction of its own. Returns for each why it was not changed, if it was not. */
export async function changeTickets(ctx: Deps, caller: Caller, body: Body): Promise<Result[]> {
  const { tickets, addTags = [], removeTags = [], ...change } = body
  const results: Result[] = []
  for (const { agentId, ticketNumber } of tickets) {
    const ref = { accountId: caller.account.id, agentId, ticketNumber }
    try {
      if (caller.member?.agentIds?.includes(agentId) === false) throw new ApiError('AGENT_NOT_FOUND')
      await requireAgent(ctx.db, ref)
      await transact(ctx.db, async (trx) => {
        await requireTicket(trx, ref)
        const tags = {
          add: await idsOfTags(trx, ref, addTags, 'must exist'),
          remove: await idsOfTags(trx, ref, removeTags, 'may be missing'),
        }
        if (Object.keys(change).length > 0)
          await updateTicket({ ...ctx, db: trx }, ref, change, caller.member?.id ?? 'api')
        if (tags.add.length + tags.remove.length > 0) await changeTags({ ...ctx, db: trx }, ref, tags)
      })
      results.push({ agentId, ticketNumber, error: null })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      results.push({ agentId, ticketNumber, error: { code: error.code, message: error.message } })
    }
  }
  return results
}

async function idsOfTags(
  trx: Trx,
  { accountId, agentId }: AgentRef & Partial<TicketRef>,
  names: readonly string[],
  unknown: 'must exist' | 'may be missing',
): Promise<string[]> {
  if (names.length === 0) return []
  const { rows } = await sql<{ id: string; name: string }>`
    select id, lower(name) as name from ticket_tags where account_id = ${accountId} and agent_id = ${agentId}
      and lower(name) = any(${names.map((name) => name.trim().toLowerCase())}::text[]) for key share`.execute(
    trx,
  )
  const missing = names.find((name) => !rows.some((row) => row.name === name.trim().toLowerCase()))
  if (missing !== undefined && unknown === 'must exist')
    throw new ApiError('RESOURCE_NOT_FOUND', {
      message: `The agent of this ticket has no tag ${JSON.stringify(missing)}.`,
    })
  return rows.map(({ id }) => id)
}
