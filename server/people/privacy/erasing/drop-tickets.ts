import { sql } from 'kysely'
import { bumpKnowledgeVersion } from '../../../agents/records/knowledge-state.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { dropFiles } from './drop-files.ts'

type TicketRow = { id: string; agent_id: string; number: number }

/**
 * Deletes tickets with what the agents learned from them. Returns their number. The newest ticket of an agent stays as
 * an empty row, because it determines the next number, and no number may be assigned twice.
 */
export async function dropTickets(
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  accountId: AccountId,
  tickets: readonly TicketRow[],
): Promise<number> {
  if (tickets.length === 0) return 0
  const ids = tickets.map(({ id }) => id)
  await holdAgentsOf(trx, accountId, tickets)
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

/**
 * Locks the agents of tickets and the agents that learned from them, including clones. Whoever adds tickets as
 * knowledge or assigns a number to a new one takes the same lock.
 */
export async function holdAgentsOf(
  trx: Trx,
  accountId: AccountId,
  tickets: readonly Pick<TicketRow, 'id' | 'agent_id'>[],
): Promise<void> {
  const ids = tickets.map(({ id }) => id)
  const agentIds = tickets.map(({ agent_id }) => agent_id)
  await sql`
    select id from agents where account_id = ${accountId} and (id = any(${agentIds}::text[]) or exists (
      select from sources where agent_id = agents.id and type = 'ticket'
        and content ->> 'ticketId' = any(${ids}::text[])))
    order by id for no key update`.execute(trx)
}

/**
 * Removes what was learned from the tickets from all agents, including clones. The agents are locked (holdAgentsOf).
 */
export async function dropTicketSources(
  trx: Trx,
  accountId: AccountId,
  ids: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ agent_id: string }>`
    delete from sources where account_id = ${accountId} and id in (
      select sources.id from agents join sources on sources.agent_id = agents.id
      where agents.account_id = ${accountId} and sources.type = 'ticket'
        and sources.content ->> 'ticketId' = any(${ids}::text[])
      order by sources.id for update of sources)
    returning agent_id`.execute(trx)
  for (const agentId of new Set(rows.map(({ agent_id }) => agent_id)))
    await bumpKnowledgeVersion(trx, { accountId, agentId })
}

/** The row is deleted and added again, so that everything that belongs to the ticket is deleted by its foreign keys. */
async function emptyTicket(trx: Trx, accountId: AccountId, id: string): Promise<void> {
  const row = await trx
    .deleteFrom('tickets')
    .where(ownRow(accountId, id))
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
