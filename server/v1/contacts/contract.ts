import Type from 'typebox'
import { Exact } from '../../platform/http/contract.ts'
import { ChatbotId, Contact, ContactChange, ExternalId, NewContact, Said, version1 } from '../schema.ts'

const tag = 'Contacts'
const scope = 'conversations:write'
const list = '/chatbots/{chatbotId}/contacts'
const ofChatbot = Exact({ chatbotId: ChatbotId })
const ofContact = Exact({ chatbotId: ChatbotId, externalId: ExternalId })
const One = Exact({ message: Type.String(), data: Contact })

export const createContacts = version1({
  method: 'POST',
  path: list,
  name: 'createContacts',
  tag,
  summary: 'Add contacts, all or none',
  scope,
  params: ofChatbot,
  body: Exact({ users: Type.Array(NewContact, { minItems: 1, maxItems: 1_000 }) }),
  bodyLimit: 8 * 1_048_576,
  success: { status: 201, schema: Exact({ message: Type.String(), data: Type.Array(Contact) }) },
  errors: ['RESOURCE_DUPLICATE'],
})

export const listContacts = version1({
  method: 'GET',
  path: list,
  name: 'listContacts',
  tag,
  summary: 'List contacts, newest first',
  scope: 'conversations:read',
  params: ofChatbot,
  query: Exact({
    page: Type.Integer({ minimum: 1, maximum: 2_147_483_647, default: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
  }),
  success: {
    status: 200,
    schema: Exact({
      message: Type.String(),
      data: Type.Array(Contact),
      total: Type.Integer(),
      pages: Type.Integer(),
    }),
  },
})

export const readContact = version1({
  method: 'GET',
  path: `${list}/{externalId}`,
  name: 'readContact',
  tag,
  summary: 'Read a contact',
  scope: 'conversations:read',
  params: ofContact,
  success: { status: 200, schema: One },
})

export const updateContact = version1({
  method: 'PATCH',
  path: `${list}/{externalId}`,
  name: 'updateContact',
  tag,
  summary: 'Change a contact',
  scope,
  params: ofContact,
  body: ContactChange,
  success: { status: 200, schema: One },
})

export const deleteContact = version1({
  method: 'DELETE',
  path: `${list}/{externalId}`,
  name: 'deleteContact',
  tag,
  summary: 'Delete a contact; its conversations stay',
  scope,
  params: ofContact,
  success: { status: 200, schema: Said },
})
