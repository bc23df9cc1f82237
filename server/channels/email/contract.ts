import Type from 'typebox'
import { SILENT_REASONS } from '../../platform/db/tables/channels.ts'
import { Exact, endpointsOf, IsoTime, Nullable, OneOf, Success } from '../../platform/http/contract.ts'
import { connectionStatuses } from '../registry/connection-status.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const endpoint = endpointsOf('Email')
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
    oauth: Type.Optional(
      Exact(
        {
          tokenUrl: Type.String({
            maxLength: 1_000,
            pattern: '^https?://[^\\s]+$',
            refusal: 'Must be the web address at which the provider gives tokens.',
            description: 'Begins with https://, unless its host is one of ALLOWED_PRIVATE_HOSTS',
          }),
          clientId: Type.String({ minLength: 1, maxLength: 500, pattern: line }),
          scope: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, pattern: line })),
          clientSecret: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 2_000,
              description: 'If omitted, it is unchanged for the same client and servers',
            }),
          ),
          refreshToken: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 10_000,
              description: 'If omitted, it is unchanged for the same client and servers',
            }),
          ),
        },
        { description: 'Both servers are signed in to with OAuth 2 (XOAUTH2) in place of passwords' },
      ),
    ),
    inboundSecret: Type.Optional(
      Type.String({
        minLength: 16,
        maxLength: 200,
        description: 'Signs mails that are posted to /webhooks/email/{agentId}',
      }),
    ),
    keepsSent: Type.Boolean({
      default: false,
      description: 'Sent mails are put into the folder of the mailbox for them (IMAP, special use \\Sent)',
    }),
    authority: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100_000,
        description:
          'Certificates in PEM that both servers may be signed with, besides those of public authorities',
      }),
    ),
  }),
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_DUPLICATE'],
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
      oauth: Nullable(
        Exact({
          tokenUrl: Type.String(),
          clientId: Type.String(),
          scope: Nullable(Type.String()),
          authorizationUrl: Nullable(
            Type.String({ description: 'Set if the permission was given in the browser' }),
          ),
          isOperators: Type.Boolean({
            description: 'The client is the one that the operator has registered',
          }),
          hasClientSecret: Type.Boolean(),
          hasRefreshToken: Type.Boolean(),
        }),
      ),
      hasInboundSecret: Type.Boolean(),
      authority: Nullable(Type.String()),
      keepsSent: Type.Boolean(),
      sentError: Nullable(
        Type.String({ description: 'Why a sent mail could not be put into its folder last' }),
      ),
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
  summary: 'Disconnect the mailbox',
  description:
    'Conversations stay; mails that still wait to be sent fail. A permission of OAuth 2 is withdrawn at the provider if it was given in the browser and the provider has an address for it.',
  scope: 'agents:write',
  params,
  success: { status: 200, schema: Success },
})

const outcome = Exact({ ok: Type.Boolean(), error: Nullable(Type.String()) })

export const testMailbox = endpoint({
  method: 'POST',
  path: `${path}/test`,
  name: 'testMailbox',
  summary: 'Test the connection of the mailbox',
  description:
    'The service logs in to the servers and asks whether they accept mails from the address, but sends nothing.',
  scope: 'messaging:write',
  params,
  success: { status: 200, schema: Exact({ smtp: outcome, imap: Nullable(outcome) }) },
  errors: ['RESOURCE_NOT_FOUND'],
})

const reason = OneOf(SILENT_REASONS, {
  description:
    'automatic: a program wrote it. list: it came through a mailing list. old: older than the connection or than three days. answered: somebody had answered it in a mail client. own: sent from the address of the mailbox. noSender: no address to answer. tooMany: more mails than a person sends. repetitive: it looks like an automatic reply. blocked: the sender is blocked',
})

export const listSilentMails = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/email/silent',
  name: 'listSilentMails',
  summary: 'List mails that were stored without an answer',
  description: 'Newest first, at most 100. `counts` are those of the last 30 days.',
  scope: 'conversations:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      data: Type.Array(
        Exact({
          id: Type.String(),
          reason,
          from: Nullable(Type.String({ description: 'The address to which an answer would go' })),
          fromName: Nullable(Type.String()),
          subject: Type.String(),
          text: Type.String({ description: 'How the text begins' }),
          receivedAt: IsoTime,
          conversationId: Nullable(Type.String({ description: 'null until the mail is added to one' })),
        }),
      ),
      counts: Type.Array(Exact({ reason, count: Type.Integer({ minimum: 1 }) })),
    }),
  },
})

const mailParams = Exact({ ...params.properties, mailId: Type.String({ minLength: 1 }) })

export const answerSilentMail = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/email/silent/{mailId}/answer',
  name: 'answerSilentMail',
  summary: 'Let the agent answer a mail that was stored without an answer',
  description: 'The answer follows a moment later. The mail leaves the list.',
  scope: 'messaging:write',
  params: mailParams,
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND', 'CHAT_CONVERSATION_NOT_ONGOING'],
})

export const giveSilentMailToTeam = endpoint({
  method: 'POST',
  path: '/agents/{agentId}/email/silent/{mailId}/ticket',
  name: 'giveSilentMailToTeam',
  summary: 'Open a ticket for a mail that was stored without an answer',
  description: 'The team takes over its conversation. The mail leaves the list.',
  scope: 'helpdesk:write',
  params: mailParams,
  success: { status: 200, schema: Success },
  errors: ['RESOURCE_NOT_FOUND'],
})
