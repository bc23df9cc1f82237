import type { Selectable } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { ContactsTable, CustomAttributesTable } from '../../platform/db/tables/contacts.ts'
import { ApiError } from '../../platform/http/errors.ts'

export type ContactRow = Selectable<ContactsTable>
export type AttributeRow = Selectable<CustomAttributesTable>

/** Returns the agent's contact with this external id. Throws RESOURCE_NOT_FOUND. `lock` locks the row. */
export async function requireContact(
  db: Db,
  ref: AgentRef,
  externalId: string,
  lock = false,
): Promise<ContactRow> {
  let query = db.selectFrom('contacts').selectAll().where(ofAgent(ref)).where('external_id', '=', externalId)
  if (lock) query = query.forNoKeyUpdate()
  const row = await query.executeTakeFirst()
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The contact does not exist.' })
  return row
}

/** Returns `limit` contacts after `offset` others, newest first, and the total number. */
export async function listContacts(
  db: Db,
  ref: AgentRef,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ContactRow[]; total: number }> {
  const query = db.selectFrom('contacts').where(ofAgent(ref))
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return { rows, total }
}

/** Returns them in the order of their creation. */
export function listAttributes(db: Db, ref: AgentRef): Promise<AttributeRow[]> {
  return db.selectFrom('custom_attributes').selectAll().where(ofAgent(ref)).orderBy('id').execute()
}

/** Deletes a contact, but not its conversations. Returns false when there is none. */
export async function deleteContact(db: Db, ref: AgentRef, externalId: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('contacts')
    .where(ofAgent(ref))
    .where('external_id', '=', externalId)
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}
