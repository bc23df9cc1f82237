import type { Context } from '../../context.ts'
import { presentConversation } from '../../conversations/records/present.ts'
import { presentListedTicket } from '../../inbox/tickets/present.ts'
import { newId } from '../../platform/db/ids.ts'
import { readDateRange } from '../../platform/http/input/dates.ts'
import { byActivity, byCreation, type PageRequest, readPage } from '../../platform/http/pagination.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { separateIdentity } from '../identities/join-contacts.ts'
import { identitiesOf, presentIdentity } from '../identities/list-identities.ts'
import { deleteContact } from '../records/queries.ts'
import { createContacts, updateContact } from '../records/write-contacts.ts'
import * as contract from './contract.ts'
import {
  conversationsOfContact,
  findContacts,
  leadsOf,
  requireContactById,
  ticketsOfContact,
} from './find-contacts.ts'
import { importContacts } from './import-contacts.ts'
import { mergeContacts } from './merge-contacts.ts'
import { presentContact } from './present.ts'

export const peopleRoutes = (ctx: Pick<Context, 'db'>): Route[] => [...contactRoutes(ctx), ...lists(ctx)]

const contactRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.listContacts, async ({ ref, query }) => {
    const read = (page: PageRequest) => findContacts(ctx.db, ref, query.query, page)
    return readPage(query, ['contacts', ref.agentId, query.query ?? null], read, byCreation, presentContact)
  }),

  route(contract.createContact, async ({ db, ref, body }) => {
    const { externalId = newId(), ...fields } = body
    const contact = { external_id: externalId, ...changeOf(fields) }
    const [row] = await createContacts(db, ref, [contact], () => 'customAttributes')
    if (!row) throw new Error('A contact that was added no longer exists.')
    return presentContact(row)
  }),

  route(contract.importContacts, async ({ db, ref, body }) => importContacts(db, ref, body.contacts)),

  route(contract.readContact, async ({ ref, params }) => {
    return presentContact(await requireContactById(ctx.db, ref, params.contactId))
  }),

  route(contract.updateContact, async ({ ref, params, body }) => {
    const { external_id } = await requireContactById(ctx.db, ref, params.contactId)
    return presentContact(await updateContact(ctx.db, ref, external_id, changeOf(body), 'customAttributes'))
  }),

  route(contract.deleteContact, async ({ ref, params }) => {
    const { external_id } = await requireContactById(ctx.db, ref, params.contactId)
    await deleteContact(ctx.db, ref, external_id)
    return { success: true as const }
  }),

  route(contract.mergeContact, async ({ db, ref, params, body }) => {
    return presentContact(await mergeContacts(db, ref, params.contactId, body.intoContactId))
  }),

  route(contract.listContactIdentities, async ({ ref, params }) => {
    const contact = await requireContactById(ctx.db, ref, params.contactId)
    return { data: (await identitiesOf(ctx.db, contact)).map(presentIdentity) }
  }),

  route(contract.separateContactIdentity, async ({ db, ref, params }) => {
    return presentContact(await separateIdentity(db, ref, params.contactId, params.identityId))
  }),
]

/** Lists of what belongs to a contact, and of leads. */
const lists = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.listContactConversations, async ({ ref, params, query }) => {
    const contact = await requireContactById(ctx.db, ref, params.contactId)
    const read = (page: PageRequest) => conversationsOfContact(ctx.db, contact, page)
    return readPage(query, ['contact-conversations', contact.id], read, byActivity, (row) => ({
      ...presentConversation(row),
      source: row.source,
    }))
  }),

  route(contract.listLeads, async ({ ref, query }) => {
    const read = (page: PageRequest) => leadsOf(ctx.db, ref, readDateRange(query), page)
    return readPage(
      query,
      ['leads', ref.agentId, query.startDate, query.endDate],
      read,
      byCreation,
      (row) => ({
        id: row.id,
        name: row.name,
        email: row.email,
        phone: row.phone,
        conversationId: row.conversation_id,
        userId: row.user_id,
        createdAt: row.created_at.toISOString(),
      }),
    )
  }),

  route(contract.listContactTickets, async ({ ref, params, query }) => {
    const contact = await requireContactById(ctx.db, ref, params.contactId)
    const read = (page: PageRequest) => ticketsOfContact(ctx.db, contact, page)
    return readPage(query, ['contact-tickets', contact.id], read, byCreation, presentListedTicket)
  }),
]

type Fields = {
  name?: string | null
  email?: string | null
  phoneNumber?: string | null
  customAttributes?: Record<string, unknown>
}

const changeOf = ({ phoneNumber, customAttributes, ...same }: Fields) => ({
  ...same,
  ...(phoneNumber === undefined ? {} : { phonenumber: phoneNumber }),
  ...(customAttributes === undefined ? {} : { custom_attributes: customAttributes }),
})
