import type { Context } from '../../context.ts'
import { presentConversation } from '../../conversations/records/present.ts'
import { presentListedTicket } from '../../inbox/tickets/present.ts'
import { newId } from '../../platform/db/ids.ts'
import { readDateRange } from '../../platform/http/input/dates.ts'
import { byActivity, byCreation, decodeCursor, fingerprint, pageOf } from '../../platform/http/pagination.ts'
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
    const print = fingerprint('contacts', ref.agentId, query.query ?? null)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await findContacts(ctx.db, ref, query.query, { limit: query.limit, position })
    return pageOf(rows, query.limit, total, print, byCreation, presentContact)
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
    const print = fingerprint('contact-conversations', contact.id)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await conversationsOfContact(ctx.db, contact, { limit: query.limit, position })
    return pageOf(rows, query.limit, total, print, byActivity, (row) => ({
      ...presentConversation(row),
      source: row.source,
    }))
  }),

  route(contract.listLeads, async ({ ref, query }) => {
    const { cursor, limit, startDate, endDate } = query
    const print = fingerprint('leads', ref.agentId, startDate, endDate)
    const page = { limit, position: decodeCursor(cursor, print) }
    const { rows, total } = await leadsOf(ctx.db, ref, readDateRange(query), page)
    return pageOf(rows, limit, total, print, byCreation, (row) => ({
      id: row.id,
      name: row.name,
      email: row.email,
      phone: row.phone,
      conversationId: row.conversation_id,
      userId: row.user_id,
      createdAt: row.created_at.toISOString(),
    }))
  }),

  route(contract.listContactTickets, async ({ ref, params, query }) => {
    const contact = await requireContactById(ctx.db, ref, params.contactId)
    const print = fingerprint('contact-tickets', contact.id)
    const position = decodeCursor(query.cursor, print)
    const { rows, total } = await ticketsOfContact(ctx.db, contact, { limit: query.limit, position })
    return pageOf(rows, query.limit, total, print, byCreation, presentListedTicket)
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
