import Type from 'typebox'
import { Conversation } from '../../conversations/records/schema.ts'
import { ListedTicket } from '../../inbox/tickets/schema.ts'
import {
  Cursor,
  DayOrTime,
  Exact,
  endpointsOf,
  IsoTime,
  Limit,
  Nullable,
  Page,
  Success,
} from '../../platform/http/contract.ts'
import { attributes, fields, NewContact } from './schema.ts'

const Id = Type.String({ minLength: 1 })
const agentParams = Exact({ agentId: Id })
const paging = { cursor: Type.Optional(Cursor), limit: Limit }
const endpoint = endpointsOf('Contacts')
const path = '/agents/{agentId}/contacts'

const Contact = Exact({
  id: Type.String(),
  externalId: Type.String({ description: 'userId of the contact’s conversations' }),
  name: Nullable(Type.String()),
  email: Nullable(Type.String()),
  phoneNumber: Nullable(Type.String()),
  customAttributes: attributes,
  createdAt: IsoTime,
  updatedAt: IsoTime,
})

export const listContacts = endpoint({
  method: 'GET',
  path,
  name: 'listContacts',
  summary: 'List the contacts of an agent',
  description: 'Newest first.',
  scope: 'conversations:read',
  params: agentParams,
  query: Exact({
    ...paging,
    query: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description:
          'The beginning of a name, or a whole external id, address or phone number, also an id, a number or a username by which a channel knows or has known the person',
      }),
    ),
  }),
  success: { status: 200, schema: Page(Contact) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const createContact = endpoint({
  method: 'POST',
  path,
  name: 'createContact',
  summary: 'Add a contact',
  description:
    'Channels add contacts automatically, by phone number or address. A contact without an external id gets one.',
  scope: 'conversations:write',
  params: agentParams,
  body: NewContact,
  success: { status: 201, schema: Contact },
  errors: ['RESOURCE_DUPLICATE'],
})

export const importContacts = endpoint({
  method: 'POST',
  path: `${path}/import`,
  name: 'importContacts',
  summary: 'Add or change many contacts',
  description:
    'An existing contact, identified by its external id or, without one, by its address or phone number, is updated; others are added. An invalid contact is skipped, and `refused` says why. Custom attributes that the agent does not have are ignored and named in `unknownAttributes`; a text is converted to the number, boolean or date of its attribute.',
  scope: 'conversations:write',
  body: Exact({
    contacts: Type.Array(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description: 'externalId, name, email, phoneNumber and customAttributes, each optional',
      }),
      { minItems: 1, maxItems: 500 },
    ),
  }),
  success: {
    status: 200,
    schema: Exact({
      created: Type.Integer({ minimum: 0 }),
      updated: Type.Integer({ minimum: 0 }),
      refused: Type.Array(
        Exact({
          index: Type.Integer({ minimum: 0, description: 'Its position in the request' }),
          reason: Type.String(),
        }),
      ),
      unknownAttributes: Type.Array(Type.String()),
    }),
  },
  errors: ['RESOURCE_DUPLICATE'],
})

export const readContact = endpoint({
  method: 'GET',
  path: `${path}/{contactId}`,
  name: 'readContact',
  summary: 'Read a contact',
  scope: 'conversations:read',
  success: { status: 200, schema: Contact },
})

export const updateContact = endpoint({
  method: 'PATCH',
  path: `${path}/{contactId}`,
  name: 'updateContact',
  summary: 'Change a contact',
  description: 'Custom attributes are merged by name; null removes a value.',
  scope: 'conversations:write',
  body: Exact(fields),
  success: { status: 200, schema: Contact },
})

export const deleteContact = endpoint({
  method: 'DELETE',
  path: `${path}/{contactId}`,
  name: 'deleteContact',
  summary: 'Delete a contact',
  description: 'Its conversations stay. To remove those too, erase the person.',
  scope: 'conversations:write',
  success: { status: 200, schema: Success },
})

export const mergeContact = endpoint({
  method: 'POST',
  path: `${path}/{contactId}/merge`,
  name: 'mergeContact',
  summary: 'Merge two contacts',
  description:
    'Conversations, tickets and channels of the contact are moved to the other one, whose own fields take precedence; then the contact is deleted. This cannot be undone.',
  scope: 'conversations:write',
  body: Exact({ intoContactId: Id }),
  success: { status: 200, schema: Contact },
})

export const listContactIdentities = endpoint({
  method: 'GET',
  path: `${path}/{contactId}/identities`,
  name: 'listContactIdentities',
  summary: 'List what channels call a contact',
  description:
    'Identities are added and joined only by what the channel itself says in signed events, never by names.',
  scope: 'conversations:read',
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          id: Type.String(),
          channel: Type.String(),
          kind: Type.String({ description: 'phone, user or parent_user' }),
          value: Type.String({ description: 'A number (E.164) or an id of the channel' }),
          username: Nullable(Type.String({ description: 'As it was last seen; others may have it later' })),
          statedBy: Type.String({ description: 'The channel’s id of the event that said so' }),
          createdAt: IsoTime,
          replacedAt: Nullable(IsoTime),
        }),
      ),
    }),
  },
})

export const separateContactIdentity = endpoint({
  method: 'POST',
  path: `${path}/{contactId}/identities/{identityId}/separate`,
  name: 'separateContactIdentity',
  summary: 'Undo that an identity was joined with a contact',
  description:
    'Returns the contact that the identity has then: the one from before the join, with the channels and conversations that came with it, or a new one. What the channel says later does not join the two again.',
  scope: 'conversations:write',
  success: { status: 200, schema: Contact },
  errors: ['CONTACT_IDENTITY_ALONE'],
})

export const listContactConversations = endpoint({
  method: 'GET',
  path: `${path}/{contactId}/conversations`,
  name: 'listContactConversations',
  summary: 'List the conversations of a contact, of every source',
  description: 'Most recently active first.',
  scope: 'conversations:read',
  query: Exact(paging),
  success: { status: 200, schema: Page(Exact({ ...Conversation.properties, source: Type.String() })) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const listContactTickets = endpoint({
  method: 'GET',
  path: `${path}/{contactId}/tickets`,
  name: 'listContactTickets',
  summary: 'List the tickets of a contact',
  description:
    'Newest first. The list contains tickets of the contact’s conversations and tickets opened for its address.',
  scope: 'helpdesk:read',
  query: Exact(paging),
  success: { status: 200, schema: Page(ListedTicket) },
  errors: ['VALIDATION_INVALID_CURSOR'],
})

export const listLeads = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/leads',
  name: 'listLeads',
  summary: 'List the leads of an agent',
  description: 'Newest first. Leads come from the form of the chat or from an action.',
  scope: 'conversations:read',
  query: Exact({
    ...paging,
    startDate: Type.Optional(DayOrTime('Not before')),
    endDate: Type.Optional(DayOrTime('Not after')),
  }),
  success: {
    status: 200,
    schema: Page(
      Exact({
        id: Type.String(),
        name: Nullable(Type.String()),
        email: Nullable(Type.String()),
        phone: Nullable(Type.String()),
        conversationId: Nullable(Type.String()),
        userId: Nullable(Type.String()),
        createdAt: IsoTime,
      }),
    ),
  },
  errors: ['VALIDATION_INVALID_CURSOR', 'VALIDATION_INVALID_DATE_RANGE'],
})
