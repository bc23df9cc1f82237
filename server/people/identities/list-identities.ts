import type { Db } from '../../platform/db/database.ts'
import type { ContactRow } from '../records/queries.ts'
import type { IdentityRow } from './identify.ts'

/** Returns the identities of a contact, the oldest first. */
export const identitiesOf = (db: Db, { account_id, id }: ContactRow): Promise<IdentityRow[]> =>
  db
    .selectFrom('contact_identities')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('contact_id', '=', id)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

export const presentIdentity = (row: IdentityRow) => ({
  id: row.id,
  channel: row.channel,
  kind: row.kind,
  value: row.value,
  username: row.username,
  statedBy: row.stated_by,
  createdAt: row.created_at.toISOString(),
  replacedAt: row.replaced_at?.toISOString() ?? null,
})
