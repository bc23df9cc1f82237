import Type from 'typebox'
import { Exact, endpointsOf, Success } from '../../platform/http/contract.ts'
import {
  Connection,
  ConnectionState,
  ConnectionTest,
  SentTemplate,
  TemplateList,
  TemplateMessage,
  UnreadableEvent,
} from './schema.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const endpoint = endpointsOf('Messaging')
const path = '/agents/{agentId}/messaging'

export const connectMessaging = endpoint({
  method: 'PUT',
  path: `${path}/connection`,
  name: 'connectMessaging',
  audit: 'connection.put',
  summary: 'Connect business accounts',
  description:
    'Replaces all connected accounts. Secrets are stored encrypted and never returned; omitted secrets of an account that is already connected are kept. The webhook of the accounts is `/webhooks/messaging/{agentId}` on this host.',
  scope: 'agents:write',
  params,
  body: Connection,
  success: { status: 200, schema: Success },
})

export const readMessagingConnection = endpoint({
  method: 'GET',
  path: `${path}/connection`,
  name: 'readMessagingConnection',
  summary: 'Read the connected business accounts',
  scope: 'messaging:read',
  params,
  success: { status: 200, schema: ConnectionState },
})

export const testMessaging = endpoint({
  method: 'POST',
  path: `${path}/connection/test`,
  name: 'testMessaging',
  summary: 'Test the connection by reading the numbers of each business account',
  description: 'No message is sent.',
  scope: 'messaging:write',
  params,
  success: { status: 200, schema: ConnectionTest },
  errors: ['MESSAGING_NOT_CONNECTED'],
})

export const disconnectMessaging = endpoint({
  method: 'DELETE',
  path: `${path}/connection`,
  name: 'disconnectMessaging',
  audit: 'connection.delete',
  summary: 'Disconnect all business accounts',
  description: 'Conversations stay; nothing is sent or received any more.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
})

export const listUnreadableEvents = endpoint({
  method: 'GET',
  path: `${path}/unreadable`,
  name: 'listUnreadableEvents',
  summary: 'List what the channel delivered and the service could not read',
  description: 'Newest first, at most 200. The channel does not send it again.',
  scope: 'messaging:read',
  params,
  success: { status: 200, schema: Exact({ data: Type.Array(UnreadableEvent) }) },
})

export const deleteUnreadableEvent = endpoint({
  method: 'DELETE',
  path: `${path}/unreadable/{eventId}`,
  name: 'deleteUnreadableEvent',
  summary: 'Remove an entry that somebody has looked at',
  scope: 'messaging:write',
  params: Exact({ ...params.properties, eventId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Success },
})

export const listMessagingTemplates = endpoint({
  method: 'GET',
  path: `${path}/templates`,
  name: 'listMessagingTemplates',
  unknownFields: 'ignored',
  summary: 'List approved templates and the numbers that can send them',
  description: 'A template can only be sent from a number of its own business account.',
  scope: 'messaging:read',
  params,
  success: { status: 200, schema: TemplateList },
  errors: ['MESSAGING_NOT_CONNECTED'],
})

export const sendMessagingTemplate = endpoint({
  method: 'POST',
  path: `${path}/messages/template`,
  name: 'sendMessagingTemplate',
  unknownFields: 'ignored',
  summary: 'Send an approved template',
  description:
    'The message is also added to the conversation with the recipient, or starts one; if a person has that conversation, or it has ended, the message is only sent on the channel. `conversationId` names the conversation in which replies arrive. `details.retryAfterSeconds` of MESSAGING_SEND_FAILED says how long to wait before the next attempt, if that is known.',
  scope: 'messaging:write',
  params,
  body: TemplateMessage,
  success: { status: 201, schema: SentTemplate, description: 'The channel has accepted the message' },
  errors: [
    'MESSAGING_NOT_CONNECTED',
    'PHONE_NUMBER_REQUIRED',
    'TEMPLATE_LANGUAGE_REQUIRED',
    'PHONE_NUMBER_NOT_FOUND',
    'TEMPLATE_NOT_FOUND',
    'TEMPLATE_NOT_APPROVED',
    'SEND_BLOCKED',
    'MISSING_TEMPLATE_VARIABLES',
    'INVALID_TEMPLATE_VARIABLES',
    'TEMPLATE_BUTTONS_UNSUPPORTED',
    'TEMPLATE_PARAMS_REJECTED',
    'RECIPIENT_INVALID',
    'RECIPIENT_NOT_REACHABLE',
    'MESSAGING_SEND_FAILED',
  ],
})
