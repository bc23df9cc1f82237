import { sql } from 'kysely'
import type { Db } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { learnedFrom, withoutCitations } from '../person/learned-sources.ts'
import { leadIds, threadIds, ticketIds } from '../person/person-rows.ts'
import { dropTicketSources, dropTickets, holdAgentsOf } from './drop-tickets.ts'
import { addCounts, type ErasureRow } from './erasures.ts'

type Deps = { db: Db; jobs: Pick<Jobs, 'enqueue'> }

/** The most rows of one transaction. */
const BATCH = 100

/** Removes the person's tickets from the knowledge of agents, and keeps them from being added again. */
export async function hideTickets(db: Db, accountId: AccountId, person: PersonNames): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ id: string; agent_id: string }>`
      select id, agent_id from tickets where not knowledge_excluded and id in (
        ${ticketIds(accountId, person)}
        union select t.id from agents join conversations as c on c.agent_id = agents.id
          join tickets as t on t.conversation_id = c.id
          where agents.account_id = ${accountId} and c.user_id = any(${person.userIds}::text[])
        union select t.id from conversations as c join tickets as t on t.conversation_id = c.id
          where c.account_id = ${accountId} and c.contact_id = any(${person.contactIds}::uuid[]))
      limit ${BATCH}`.execute(db)
    const ids = rows.map(({ id }) => id)
    const learned = await learnedFrom(db, accountId, { conversationIds: [], ticketIds: ids })
    await withoutCitations(db, accountId, learned, () =>
      transact(db, async (trx) => {
        await holdAgentsOf(trx, accountId, rows)
        await sql`update tickets set knowledge_excluded = true
          where account_id = ${accountId} and id = any(${ids}::uuid[])`.execute(trx)
        await dropTicketSources(trx, accountId, ids)
      }),
    )
    if (rows.length < BATCH) return
  }
}

/** Deletes the person's tickets that belong to none of their conversations. Returns their number. */
export function dropTicketsOf({ db, jobs }: Deps, row: ErasureRow, person: PersonNames): Promise<number> {
  return inBatches(() =>
    transact(db, async (trx) => {
      const { rows } = await sql<{ id: string; agent_id: string; number: number }>`
        select id, agent_id, number from tickets where id in (${ticketIds(row.account_id, person)})
        limit ${BATCH}`.execute(trx)
      const tickets = await dropTickets(trx, jobs, row.account_id, rows)
      await addCounts(trx, row, { tickets })
      return tickets
    }),
  )
}

/**
 * Deletes the person's leads that belong to none of their conversations. Returns their number. A lead of a visitor who
 * is not among the names yet is kept, because it is the only link to what the visitor wrote.
 */
export function dropLeads(db: Db, row: ErasureRow, person: PersonNames): Promise<number> {
  return inBatches(() =>
    transact(db, async (trx) => {
      const { rows } = await sql<{ id: string }>`
        delete from leads where account_id = ${row.account_id} and id in (
          select id from leads where id in (${leadIds(row.account_id, person)})
            and (user_id is null or user_id = any(${person.userIds}::text[])) limit ${BATCH})
        returning id`.execute(trx)
      await addCounts(trx, row, { leads: rows.length })
      return rows.length
    }),
  )
}

/** Deletes the person's contacts with their attributes. Returns their number. */
export function dropContacts(db: Db, row: ErasureRow, { contactIds }: PersonNames): Promise<number> {
  return transact(db, async (trx) => {
    const { rows } = await sql<{ id: string }>`
      delete from contacts where account_id = ${row.account_id} and id = any(${contactIds}::uuid[])
      returning id`.execute(trx)
    await addCounts(trx, row, { contacts: rows.length })
    return rows.length
  })
}

/** Deletes the person's threads on channels with their inbound messages and deliveries. Returns their number. */
export async function dropThreads(db: Db, row: ErasureRow, person: PersonNames): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    delete from channel_threads where id in (${threadIds(row.account_id, person)}) returning id`.execute(db)
  return rows.length
}

async function inBatches(once: () => Promise<number>): Promise<number> {
  let sum = 0
  for (;;) {
    const n = await once()
    sum += n
    if (n < BATCH) return sum
  }
}
