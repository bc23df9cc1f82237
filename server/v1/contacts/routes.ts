import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { deleteContact, listAttributes, listContacts, requireContact } from '../../people/records/queries.ts'
import { createAttribute, updateAttribute } from '../../people/records/write-attribute.ts'
import { createContacts, updateContact } from '../../people/records/write-contacts.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { presentAttribute, presentContact } from '../present.ts'
import * as attributes from './attributes-contract.ts'
import * as contract from './contract.ts'

export const contactRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.createContacts, async ({ db, caller: { account }, params, body }) => {
    const owner = await ownerOf(db, account.id, params.chatbotId)
    const rows = await createContacts(db, owner, body.users, (index) => `users.${index}.custom_attributes`)
    return { message: 'Contacts created successfully', data: rows.map(presentContact) }
  }),

  route(contract.listContacts, async ({ caller: { account }, params, query: { page, per_page } }) => {
    const owner = await ownerOf(ctx.db, account.id, params.chatbotId)
    const place = { limit: per_page, offset: (page - 1) * per_page }
    const { rows, total } = await listContacts(ctx.db, owner, place)
    const message = 'Contacts retrieved successfully'
    return { message, data: rows.map(presentContact), total, pages: Math.ceil(total / per_page) }
  }),

  route(contract.readContact, async ({ caller: { account }, params }) => {
    const owner = await ownerOf(ctx.db, account.id, params.chatbotId)
    const row = await requireContact(ctx.db, owner, params.externalId)
    return { message: 'Contact retrieved successfully', data: presentContact(row) }
  }),

  route(contract.updateContact, async ({ caller: { account }, params, body }) => {
    const owner = await ownerOf(ctx.db, account.id, params.chatbotId)
    const row = await updateContact(ctx.db, owner, params.externalId, body, 'custom_attributes')
    return { message: 'Contact updated successfully', data: presentContact(row) }
  }),

  route(contract.deleteContact, async ({ caller: { account }, params }) => {
    const owner = await ownerOf(ctx.db, account.id, params.chatbotId)
    if (!(await deleteContact(ctx.db, owner, params.externalId))) throw new ApiError('RESOURCE_NOT_FOUND')
    return { message: 'Contact deleted successfully' }
  }),

  route(attributes.createAttribute, async ({ db, caller: { account }, params, body }) => {
    const row = await createAttribute(db, await ownerOf(db, account.id, params.chatbotId), body)
    return { message: 'Custom attribute created successfully', data: presentAttribute(row) }
  }),

  route(attributes.listAttributes, async ({ caller: { account }, params }) => {
    const rows = await listAttributes(ctx.db, await ownerOf(ctx.db, account.id, params.chatbotId))
    return { message: 'Custom attributes retrieved successfully', data: rows.map(presentAttribute) }
  }),

  route(attributes.updateAttribute, async ({ caller: { account }, params, body }) => {
    const owner = await ownerOf(ctx.db, account.id, params.chatbotId)
    const row = await updateAttribute(ctx.db, owner, params.name, body)
    return { message: 'Custom attribute updated successfully', data: presentAttribute(row) }
  }),
]

async function ownerOf(db: Db, accountId: AccountId, chatbotId: string) {
  const { id } = await requireAgent(db, { accountId, agentId: chatbotId })
  return { accountId, agentId: id }
}
