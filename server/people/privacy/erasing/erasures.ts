import { type Selectable, sql } from 'kysely'
import { recordAudit } from '../../../accounts/audit/audit.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { PersonNames, UserErasuresTable } from '../../../platform/db/tables/privacy.ts'
import { requireRow } from '../../../platform/http/require-row.ts'
import type { Dropped } from './drop-conversations.ts'
import { dropHeldMails } from './drop-traces.ts'

export type ErasureRow = Selectable<UserErasuresTable>
type Counts = Dropped & { contacts: number }

/** Stores the request to erase a person, who gets no mail that waits to be sent; nothing else is erased yet. */
export async function addErasure(
  trx: Trx,
  accountId: AccountId,
  actor: string,
  person: PersonNames,
): Promise<ErasureRow> {
  const row = await trx
    .insertInto('user_erasures')
    .values({ id: newId(), account_id: accountId, status: 'running', person: json(person) })
    .returningAll()
    .executeTakeFirstOrThrow()
  await recordAudit(trx, { accountId, actor, action: 'user.erase', target: row.id })
  await dropHeldMails(trx, accountId, person)
  return row
}

/** Returns the account's erasure. Throws RESOURCE_NOT_FOUND. */
export async function requireErasure(db: Db, accountId: AccountId, id: string): Promise<ErasureRow> {
  return requireRow(
    db.selectFrom('user_erasures').selectAll().where('account_id', '=', accountId),
    id,
    'The erasure does not exist.',
  )
}

/** Adds to the counts of deleted rows, in the transaction that deletes them. */
export async function addCounts(
  trx: Db,
  { account_id, id }: Pick<ErasureRow, 'account_id' | 'id'>,
  { conversations = 0, messages = 0, leads = 0, tickets = 0, contacts = 0 }: Partial<Counts>,
): Promise<void> {
  await trx
    .updateTable('user_erasures')
    .set((eb) => ({
      conversations: eb('conversations', '+', conversations),
      messages: eb('messages', '+', messages),
      leads: eb('leads', '+', leads),
      tickets: eb('tickets', '+', tickets),
      contacts: eb('contacts', '+', contacts),
      touched_at: sql<Date>`now()`,
    }))
    .where(ownRow(account_id, id))
    .execute()
}

/** Takes over erasures that another process started and did not finish. */
export async function claimAbandonedErasures(db: Db): Promise<Pick<ErasureRow, 'id' | 'account_id'>[]> {
  return db
    .updateTable('user_erasures')
    .set({ touched_at: sql<Date>`now()` })
    .where('status', '=', 'running')
    .where('touched_at', '<', sql<Date>`now() - interval '2 minutes'`)
    .returning(['id', 'account_id'])
    .execute()
}
