import type { Selectable } from 'kysely'
import type { ContactRow } from '../contacts/queries.ts'
import type { TicketsTable } from '../db/tables.ts'
import { presentTicket } from '../helpdesk/present.ts'

export const presentContact = (row: ContactRow) => ({
  id: row.id,
  externalId: row.external_id,
  name: row.name,
  email: row.email,
  phoneNumber: row.phonenumber,
  customAttributes: row.custom_attributes,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

/** As tickets stand in lists. */
export function presentListed(row: Selectable<TicketsTable>) {
  const { description: _description, metadata: _metadata, ...listed } = presentTicket(row)
  return listed
}
