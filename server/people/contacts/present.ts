import type { ContactRow } from '../records/queries.ts'

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
