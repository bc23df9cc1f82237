import { sql } from 'kysely'
import { requireAgent } from '../agents/find-agent.ts'
import type { Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'
import type { AccountId } from '../db/tables.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { moveKnowledge } from '../knowledge/queries.ts'
import { dropFiles } from './drop-files.ts'

type TicketRow = { id: string; agent_id: string; number: number }

/**
 * Deletes tickets with what the agents learned from them; answers how many there were. The newest ticket of an agent
 * stays as an empty one: numbers go on from it, and none is given twice.
 */
export async function dropTickets(
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  accountId: AccountId,
  tickets: readonly TicketRow[],
): Promise<number> {
  if (tickets.length === 0) return 0
  const ids = tickets.map(({ id }) => id)
  const agentIds = [...new Set(tickets.map(({ agent_id }) => agent_id))].sort()
  // Whoever gathers tickets as knowledge, or numbers a new one, holds this row, too.
  for (const agentId of agentIds) await requireAgent(trx, accountId, agentId, 'update')
  await dropTicketSources(trx, accountId, ids)
  await dropFiles(trx, jobs, accountId, { ticketIds: ids })
  const { rows } = await sql<{ id: string }>`
    delete from tickets where account_id = ${accountId} and id = any(${ids}::uuid[])
      and number < (select max(number) from tickets as other where other.agent_id = tickets.agent_id)
    returning id`.execute(trx)
  const gone = new Set(rows.map(({ id }) => id))
  for (const id of ids) if (!gone.has(id)) await emptyTicket(trx, accountId, id)
  return tickets.length
}

/** Takes what was learned from the tickets out of all answers, those of clones of their agent as well. */
export async function dropTicketSources(
  trx: Trx,
  accountId: AccountId,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ agent_id: string }>`
    delete from sources using agents where agents.account_id = ${accountId} and sources.agent_id = agents.id
      and sources.type = 'ticket' and sources.content ->> 'ticketId' = any(${ids}::text[])
    returning sources.agent_id`.execute(trx)
  for (const agentId of new Set(rows.map(({ agent_id }) => agent_id)))
    await moveKnowledge(trx, accountId, agentId)
}

/** Deleted and added again: what belongs to the ticket goes by its foreign keys, whatever that is. */
async function emptyTicket(trx: Trx, accountId: AccountId, id: string): Promise<void> {
  const row = await trx
    .deleteFrom('tickets')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .returning(['agent_id', 'number', 'channel', 'created_at'])
    .executeTakeFirst()
  if (!row) return
  await trx
    .insertInto('tickets')
    .values({
      ...row,
      id: newId(),
      account_id: accountId,
      subject: null,
      description: null,
      status_category: 'cancelled',
      customer: json({ id: null, name: null, email: null, phoneNumber: null }),
      metadata: json({}),
      knowledge_excluded: true,
    })
    .execute()
}
