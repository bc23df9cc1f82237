import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { LeadsTable } from '../../../platform/db/tables/actions.ts'
import type { ContactsTable } from '../../../platform/db/tables/contacts.ts'
import type { TicketMessagesTable } from '../../../platform/db/tables/helpdesk.ts'
import type { IdentityRow } from '../../identities/identify.ts'
import { presentIdentity } from '../../identities/list-identities.ts'
import type { readErasure } from '../contract.ts'
import type { ErasureRow } from '../erasing/erasures.ts'

export function presentErasure(row: ErasureRow): Static<typeof readErasure.success.schema>['data'] {
  const { id, status, conversations, messages, leads, tickets, contacts } = row
  return {
    id,
    status,
    counts: { conversations, messages, leads, tickets, contacts },
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  }
}

export const exportedContact = (row: Selectable<ContactsTable>, identities: IdentityRow[]) => ({
  id: row.id,
  agentId: row.agent_id,
  externalId: row.external_id,
  name: row.name,
  email: row.email,
  phone: row.phonenumber,
  customAttributes: row.custom_attributes,
  identities: identities.map(presentIdentity),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const exportedLead = (row: Selectable<LeadsTable>) => ({
  id: row.id,
  agentId: row.agent_id,
  conversationId: row.conversation_id,
  userId: row.user_id,
  name: row.name,
  email: row.email,
  phone: row.phone,
  createdAt: row.created_at.toISOString(),
})

export const exportedTicketMessage = (row: Selectable<TicketMessagesTable>) => ({
  id: row.id,
  sender: row.sender,
  text: row.content_text,
  createdAt: row.created_at.toISOString(),
})
