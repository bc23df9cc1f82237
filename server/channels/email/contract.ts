import Type from 'typebox'
import { Exact, endpoint, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { connectionStatuses } from '../registry/connection-status.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const tag = 'Email'
const path = '/agents/{agentId}/email/connection'

const modes = ['agent', 'tickets'] as const
const securities = ['tls', 'starttls', 'none'] as const
const line = '^[^\\u0000-\\u001f\\u007f]*$'
const server = {
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[A-Za-z0-9._:\\[\\]-]+$',
    refusal: 'Must be the name or the address of a host.',
  }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  security: OneOf(securities, { description: '`none` sends the password in the clear' }),
  username: Type.Optional(Type.String({ minLength: 1, maxLength: 320, pattern: line })),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'If omitted, it is unchanged for the same login',
    }),
  ),
}

export const connectMailbox = endpoint({
  method: 'PUT',
  path,
  name: 'connectMailbox',
  audit: 'connection.put',
  tag,
  summary: 'Connect a mailbox',
  description:
    'The agent answers mails to it, or they become tickets. Passwords and the secret are stored encrypted and never returned. Mails that are already in the mailbox are not read.',
  scope: 'agents:write',
  params,
  body: Exact({
    address: Type.String({
      format: 'email',
      maxLength: 254,
      refusal: 'Must be an e-mail address like support@example.com.',
    }),
    fromName: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: line,
        description: 'The default is the name of the agent',
      }),
    ),
    mode: OneOf(modes, { default: 'agent', description: '`tickets`: the team answers, not the agent' }),
    plusAddressing: Type.Boolean({
      default: false,
      description:
        'The mailbox takes what is written to name+anything@: answers then find their thread by it',
    }),
    smtp: Exact(server),
    imap: Type.Optional(
      Exact({
        ...server,
        mailbox: Type.Optional(
          Type.String({ minLength: 1, maxLength: 200, pattern: line, description: 'Default: INBOX' }),
        ),
      }),
    ),
    inboundSecret: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 200,
        description: 'Signs mails that are posted to /webhooks/email/{agentId}',
      }),
    ),
  }),
  success: { status: 200, schema: Success },
})

const state = {
  host: Type.String(),
  port: Type.Integer(),
  security: OneOf(securities),
  username: Nullable(Type.String()),
  hasPassword: Type.Boolean(),
  lastError: Nullable(Type.String()),
  lastCheckedAt: Nullable(IsoTime),
}

export const readMailboxConnection = endpoint({
  method: 'GET',
  path,
  name: 'readMailboxConnection',
  tag,
  summary: 'Read the connection of the mailbox',
  scope: 'messaging:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      address: Type.String(),
      fromName: Nullable(Type.String()),
      mode: OneOf(modes),
      plusAddressing: Type.Boolean(),
      smtp: Exact(state),
      imap: Nullable(Exact({ ...state, mailbox: Type.String() })),
      hasInboundSecret: Type.Boolean(),
      status: OneOf(connectionStatuses, {
        description: 'Whether both servers worked when they were last used',
      }),
    }),
  },
  errors: ['RESOURCE_NOT_FOUND'],
})

export const disconnectMailbox = endpoint({
  method: 'DELETE',
  path,
  name: 'disconnectMailbox',
  audit: 'connection.delete',
  tag,
  summary: 'Disconnect the mailbox',
  description: 'Conversations stay; mails that still wait to be sent fail.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
})

const outcome = Exact({ ok: Type.Boolean(), error: Nullable(Type.String()) })

export const testMailbox = endpoint({
  method: 'POST',
  path: `${path}/test`,
  name: 'testMailbox',
  tag,
  summary: 'Test the connection of the mailbox',
  description:
    'The service logs in to the servers and asks whether they accept mails from the address, but sends nothing.',
  scope: 'messaging:write',
  params,
  success: { status: 200, schema: Exact({ smtp: outcome, imap: Nullable(outcome) }) },
  errors: ['RESOURCE_NOT_FOUND'],
})
