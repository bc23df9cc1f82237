import { type Selectable, sql } from 'kysely'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { StatusCategory, TicketStatusesTable } from '../../platform/db/tables/helpdesk.ts'

export type StatusRow = Selectable<TicketStatusesTable>

const FIRST: [StatusCategory, string, string, string][] = [
  ['new', 'Received', 'New', '#2563eb'],
  ['on_you', 'In progress', 'Waiting for us', '#d97706'],
  ['on_customer', 'Waiting for you', 'Waiting for customer', '#7c3aed'],
  ['on_hold', 'On hold', 'On hold', '#64748b'],
  ['closed', 'Solved', 'Closed', '#16a34a'],
  ['cancelled', 'Cancelled', 'Cancelled', '#9ca3af'],
]

/** Returns the agent's statuses in order. They are created if there are none. */
export async function statusesOf(db: Db, ref: AgentRef): Promise<StatusRow[]> {
  const known = await select(db, ref)
  if (known.length > 0) return known
  return transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    return ensureStatuses(trx, ref)
  })
}

const select = (db: Db, ref: AgentRef): Promise<StatusRow[]> =>
  db.selectFrom('ticket_statuses').selectAll().where(ofAgent(ref)).orderBy('position').orderBy('id').execute()

/** Does the same in a transaction that has locked the agent's row. Existing tickets get the new statuses. */
export async function ensureStatuses(trx: Trx, ref: AgentRef): Promise<StatusRow[]> {
  const known = await select(trx, ref)
  if (known.length > 0) return known
  const { accountId, agentId } = ref
  const first = await trx
    .insertInto('ticket_statuses')
    .values(
      FIRST.map(([category, external, internal, color], position) => ({
        id: newId(),
        account_id: accountId,
        agent_id: agentId,
        category,
        external_label: external,
        internal_label: internal,
        color,
        is_default: true,
        position,
      })),
    )
    .returningAll()
    .execute()
  await sql`update tickets set status_id = s.id from ticket_statuses as s
    where tickets.account_id = ${accountId} and tickets.agent_id = ${agentId} and tickets.status_id is null
      and s.agent_id = tickets.agent_id and s.category = tickets.status_category and s.is_default`.execute(
    trx,
  )
  return first.sort((a, b) => a.position - b.position)
}
