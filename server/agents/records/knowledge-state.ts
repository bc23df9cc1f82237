import { sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

type Agent = { id: string; account_id: AccountId }

/**
 * Notifies every process that the content the agent may answer from has changed. A transaction that locks a source
 * must have locked the agent before (holdAgent).
 */
export async function bumpKnowledgeVersion(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  trained = false,
): Promise<void> {
  await trx
    .updateTable('agents')
    .set((eb) => ({
      knowledge_version: eb('knowledge_version', '+', 1),
      ...(trained ? { last_trained_at: new Date() } : {}),
    }))
    .where(ownRow(accountId, agentId))
    .execute()
}

/** Switches the agent to the vectors of another space. */
export async function setVectorSpace(
  trx: Trx,
  { id, account_id }: Agent,
  space: string | null,
): Promise<void> {
  await trx
    .updateTable('agents')
    .set((eb) => ({ vector_space: space, knowledge_version: eb('knowledge_version', '+', 1) }))
    .where(ownRow(account_id, id))
    .execute()
}

/** Lets a clone hash the terms of its chunks as its original does, whose rows it copies. */
export async function shareTermsSalt(
  trx: Trx,
  accountId: AccountId,
  from: string,
  to: string,
): Promise<void> {
  await sql`
    update agents set terms_salt = original.terms_salt from agents as original
    where agents.account_id = ${accountId} and agents.id = ${to}
      and original.account_id = ${accountId} and original.id = ${from}`.execute(trx)
}

const LEASE_SECONDS = 10
const leaseEnd = sql<Date>`now() + ${sql.lit(LEASE_SECONDS)} * interval '1 second'`

/** Claims the lease for building an agent's vectors. Returns false when another process has it. */
export async function takeVectorLease(db: Db, { id, account_id }: Agent): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('agents')
    .set({ vectors_held_until: leaseEnd })
    .where(ownRow(account_id, id))
    .where((eb) =>
      eb.or([
        eb('vectors_held_until', 'is', null),
        eb('vectors_held_until', '<', sql<Date>`now()`),
        // The clock of the database has been set back since.
        eb('vectors_held_until', '>', sql<Date>`${leaseEnd} + interval '1 second'`),
      ]),
    )
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Renews the lease (`true`) or releases it. */
export async function keepVectorLease(db: Db, { id, account_id }: Agent, held: boolean): Promise<void> {
  await db
    .updateTable('agents')
    .set({ vectors_held_until: held ? leaseEnd : null })
    .where(ownRow(account_id, id))
    .execute()
}

/** Enables or disables solved tickets as knowledge. */
export async function switchTicketKnowledge(
  trx: Trx,
  { id, account_id }: Agent,
  enabled: boolean,
): Promise<void> {
  await trx
    .updateTable('agents')
    .set({ ticket_knowledge: enabled, ...(enabled ? {} : { next_ticket_sync_at: null }) })
    .where(ownRow(account_id, id))
    .execute()
}

/** Plans the next gathering of solved tickets, unless it has been switched off. */
export async function planTicketSync(db: Db, { id, account_id }: Agent, next: Date): Promise<void> {
  await db
    .updateTable('agents')
    .set({
      next_ticket_sync_at: sql`case when next_ticket_sync_at is null then null
        else ${next}::timestamptz end`,
    })
    .where(ownRow(account_id, id))
    .execute()
}

/** Notifies every process that the agent's actions or procedures have changed. */
export async function moveTools(trx: Trx, { id, account_id }: Agent): Promise<void> {
  await trx
    .updateTable('agents')
    .set((eb) => ({ tools_version: eb('tools_version', '+', 1) }))
    .where(ownRow(account_id, id))
    .execute()
}
