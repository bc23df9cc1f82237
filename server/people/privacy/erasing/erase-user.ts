import { sql } from 'kysely'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames } from '../../../platform/db/tables/privacy.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'
import { withOtherNames } from '../person/find-person.ts'
import { learnedFrom, withoutCitations } from '../person/learned-sources.ts'
import { conversationIds } from '../person/person-rows.ts'
import { dropConversations, shortenConversation } from './drop-conversations.ts'
import { dropContacts, dropLeads, dropThreads, dropTicketsOf, hideTickets } from './drop-rest.ts'
import { dropTraces } from './drop-traces.ts'
import { addCounts, type ErasureRow, requireErasure } from './erasures.ts'
import { forgetQuestions } from './forget-questions.ts'

export type EraseNeeds = {
  db: Db
  jobs: Pick<Jobs, 'enqueue'>
  /** Ends the conversation's running reply, whichever process runs it, and waits for its end. */
  stop(accountId: AccountId, conversationId: string): Promise<unknown>
}

/** The most conversations of one transaction. */
const BATCH = 50

/**
 * Deletes everything about a person in short transactions until nothing more is found, including what arrives
 * meanwhile, and then the person's identifiers. Does nothing for a completed erasure. It may be repeated, and may run
 * twice at the same time.
 */
export async function eraseUser(
  needs: EraseNeeds,
  { account_id: accountId, id }: Pick<ErasureRow, 'account_id' | 'id'>,
): Promise<ErasureRow> {
  for (;;) {
    const row = await requireErasure(needs.db, accountId, id)
    if (row.person === null) return row
    const person = await rememberNames(needs.db, row, row.person)
    const found = await eraseOnce(needs, row, person)
    await dropTraces(needs.db, accountId, person)
    if (found === 0) await forget(needs.db, row)
  }
}

/** Stores the other identifiers of the person, which would be lost with the contacts and leads. */
async function rememberNames(db: Db, row: ErasureRow, known: PersonNames): Promise<PersonNames> {
  const person = await withOtherNames(db, row.account_id, known)
  await db
    .updateTable('user_erasures')
    .set({ person: json(person) })
    .where(ownRow(row.account_id, row.id))
    .where('status', '=', 'running')
    .execute()
  return person
}

/** Returns the number of rows that were found. */
async function eraseOnce(needs: EraseNeeds, row: ErasureRow, person: PersonNames): Promise<number> {
  // This comes first, because answers are made from tickets and a long erasure must not leave them until its end.
  await hideTickets(needs.db, row.account_id, person)
  let found = 0
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      ${conversationIds(row.account_id, person, { limit: BATCH, after: null })}`.execute(needs.db)
    if (rows.length === 0) break
    found += rows.length
    // The union may return more than one transaction should delete.
    await eraseConversations(
      needs,
      row,
      rows.slice(0, BATCH).map(({ id }) => id),
    )
  }
  found += await dropTicketsOf(needs, row, person)
  found += await dropLeads(needs.db, row, person)
  found += await dropThreads(needs.db, row, person)
  found += await dropContacts(needs.db, row, person)
  return found
}

async function eraseConversations(needs: EraseNeeds, row: ErasureRow, ids: string[]): Promise<void> {
  const { db } = needs
  const accountId = row.account_id
  const running = await db
    .selectFrom('generations')
    .select('conversation_id')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', ids)
    .where('status', '=', 'running')
    .execute()
  for (const { conversation_id } of running) await needs.stop(accountId, conversation_id)
  const learned = await learnedFrom(db, accountId, { conversationIds: ids, ticketIds: [] })
  await withoutCitations(db, accountId, learned, async () => {
    await forgetQuestions(needs, accountId, ids)
    for (const id of ids) await shorten(db, row, id)
    await transact(db, async (trx) => {
      const threadIds = await threadsOf(trx, accountId, ids)
      await addCounts(trx, row, await dropConversations(trx, needs.jobs, accountId, ids))
      await dropEmptyThreads(trx, accountId, threadIds)
    })
  })
}

/** Returns the threads of the conversations. */
async function threadsOf(trx: Trx, accountId: AccountId, ids: string[]): Promise<string[]> {
  const rows = await trx
    .selectFrom('conversations')
    .select('thread_id')
    .distinct()
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .where('thread_id', 'is not', null)
    .execute()
  return rows.flatMap(({ thread_id }) => thread_id ?? [])
}

async function dropEmptyThreads(trx: Trx, accountId: AccountId, ids: string[]): Promise<void> {
  await sql`
    delete from channel_threads as t where account_id = ${accountId} and id = any(${ids}::uuid[])
      and not exists (select from conversations where thread_id = t.id)`.execute(trx)
}

async function shorten(db: Db, row: ErasureRow, id: string): Promise<void> {
  let messages: number
  do {
    messages = await transact(db, async (trx) => {
      const gone = await shortenConversation(trx, row.account_id, id)
      if (gone > 0) await addCounts(trx, row, { messages: gone })
      return gone
    })
  } while (messages > 0)
}

async function forget(db: Db, { account_id, id }: ErasureRow): Promise<void> {
  await db
    .updateTable('user_erasures')
    .set({ status: 'finished', person: null, finished_at: sql<Date>`now()` })
    .where(ownRow(account_id, id))
    .execute()
}
