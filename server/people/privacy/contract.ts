import Type from 'typebox'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { MAX_DAYS } from './person/limits.ts'

const endpoint = endpointsOf('Privacy')

const person = Exact({
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'As given to chat, or the external id of a contact',
    }),
  ),
  contactId: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The id of a contact' })),
  email: Type.Optional(
    Type.String({ minLength: 3, maxLength: 320, pattern: '@', refusal: 'Must hold an @.' }),
  ),
  phone: Type.Optional(
    Type.String({ minLength: 3, maxLength: 50, description: 'With country code, such as +49 30 901820' }),
  ),
})

const Count = Type.Integer({ minimum: 0 })

const Erasure = Exact({
  id: Type.String(),
  status: OneOf(['running', 'finished']),
  counts: Exact({
    conversations: Count,
    messages: Count,
    leads: Count,
    tickets: Count,
    contacts: Count,
  }),
  createdAt: IsoTime,
  finishedAt: Nullable(IsoTime),
})

export const eraseUser = endpoint({
  method: 'POST',
  path: '/users/erase',
  name: 'eraseUser',
  summary: 'Erase an end user from all agents of the account',
  description:
    'Send exactly one of the names; contacts with that name add their other names. Everything about the person is deleted in the background, and a running reply is stopped. Whatever arrives from the person before the erasure is `finished` is deleted, too; later messages start new conversations. An unknown name is not an error. An erasure cannot be undone: `POST /users/export` shows beforehand what will be deleted.',
  scope: 'privacy:write',
  body: person,
  success: { status: 202, schema: Exact({ data: Erasure }) },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const readErasure = endpoint({
  method: 'GET',
  path: '/users/erasures/{erasureId}',
  name: 'readErasure',
  summary: 'Read the progress of an erasure',
  description: 'Returns the counts of what was erased; the names are not kept.',
  scope: 'privacy:read',
  params: Exact({ erasureId: Type.String({ minLength: 1 }) }),
  success: { status: 200, schema: Exact({ data: Erasure }) },
})

export const exportUser = endpoint({
  method: 'POST',
  path: '/users/export',
  name: 'exportUser',
  summary: 'Export everything held about an end user',
  description:
    'Send exactly one of the names. The response is NDJSON: a line of the type `user` with the names found, lines of the types `contact` (with the identities by which channels know or have known them), `conversation` (in the format of the conversation export, including ratings), `lead` and `ticket`, and a last line of the type `end` with the counts. Without that line, the response was cut off.',
  scope: 'privacy:read',
  body: person,
  success: {
    status: 200,
    schema: Type.Object({ type: OneOf(['user', 'contact', 'conversation', 'lead', 'ticket', 'end']) }),
  },
  lines: true,
  errors: ['RESOURCE_NOT_FOUND'],
})

export const exportAccount = endpoint({
  method: 'POST',
  path: '/account/export',
  name: 'exportAccount',
  summary: 'Export everything that the account holds',
  description:
    'The response is NDJSON: lines of the types `account`, `member`, `agent`, `conversation` (in the format of the conversation export), `source`, `contact`, `lead` and `ticket`, and a last line of the type `end` with the counts. Without that line, the response was cut off. It contains no secrets, keys, passwords or uploaded files; the command `export` includes the files.',
  scope: 'privacy:read',
  success: {
    status: 200,
    schema: Type.Object({
      type: OneOf([
        'account',
        'member',
        'agent',
        'conversation',
        'source',
        'contact',
        'lead',
        'ticket',
        'end',
      ]),
    }),
  },
  lines: true,
  errors: [],
})

const agent = Exact({ agentId: Type.String({ minLength: 1 }) })
const retentionDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_DAYS,
    description: 'Days after the last activity; null: conversations are kept forever',
  }),
)

const promptDays = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: MAX_DAYS,
    description: 'Days for which the prompt of each answer is kept to explain it; null: not at all',
  }),
)

const redactPaymentNumbers = Type.Boolean({
  description:
    'Whether numbers of cards and bank accounts (IBAN) are taken out of what customers write before a language model reads it; the conversation keeps them',
})

export const readRetention = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/retention',
  name: 'readRetention',
  versioned: ['retentionDays', 'promptDays', 'redactPaymentNumbers'],
  summary: 'Read how long an agent’s conversations are kept',
  scope: 'agents:read',
  params: agent,
  success: { status: 200, schema: Exact({ retentionDays, promptDays, redactPaymentNumbers }) },
})

export const setRetention = endpoint({
  method: 'PUT',
  path: '/agents/{agentId}/retention',
  name: 'setRetention',
  changes: readRetention,
  summary: 'Set how long an agent’s conversations are kept',
  description:
    'Conversations without activity for that many days are deleted, with their messages, leads and tickets, within minutes of the change. Conversations that a person has taken over, that have an open ticket or that have a running reply stay. Leads without a conversation are deleted at the same age. What is optional stays as it is when it is not sent.',
  scope: 'agents:write',
  params: agent,
  body: Exact({
    retentionDays,
    promptDays: Type.Optional(promptDays),
    redactPaymentNumbers: Type.Optional(redactPaymentNumbers),
  }),
  success: { status: 200, schema: Success },
})
