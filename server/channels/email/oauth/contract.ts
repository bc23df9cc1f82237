import Type from 'typebox'
import { Exact, endpoint, Nullable, OneOf } from '../../../platform/http/contract.ts'
import { connectMailbox } from '../contract.ts'

const params = Exact({ agentId: Type.String({ minLength: 1 }) })
const tag = 'Email'
const path = '/agents/{agentId}/email/oauth'

const { smtp, oauth: _oauth, ...others } = connectMailbox.body.properties
const url = (description: string) =>
  Type.String({
    maxLength: 1_000,
    pattern: '^https?://[^\\s]+$',
    refusal: 'Must be a web address.',
    description,
  })

export const readMailProviders = endpoint({
  method: 'GET',
  path,
  name: 'readMailProviders',
  tag,
  summary: 'Read with which providers a mailbox can be connected by OAuth 2',
  scope: 'messaging:read',
  params,
  success: {
    status: 200,
    schema: Exact({
      redirectUrl: Type.String({ description: 'To be registered with an application of your own' }),
      providers: Type.Array(
        Exact({
          id: OneOf(['google', 'microsoft']),
          name: Type.String(),
          hasClient: Type.Boolean({
            description: 'The operator has registered an application, so no client is needed',
          }),
        }),
      ),
    }),
  },
})

export const beginMailSignIn = endpoint({
  method: 'POST',
  path,
  name: 'beginMailSignIn',
  tag,
  summary: 'Begin to connect a mailbox by OAuth 2',
  description:
    'Open `url` in the browser. The provider sends it back to the workspace with a code, which finishes the connection together with `attempt`, within 15 minutes and in the same session. Nothing is stored until then.',
  scope: 'agents:write',
  params,
  body: Exact({
    provider: OneOf(['google', 'microsoft', 'other'], {
      description:
        'google, microsoft: their servers and addresses are used, so that `connection` needs only `address` and, unless the operator has registered an application, the client',
    }),
    connection: Exact({
      ...others,
      smtp: Type.Optional(smtp),
      oauth: Type.Optional(
        Exact({
          authorizationUrl: Type.Optional(url('The page on which a person gives the permission')),
          tokenUrl: Type.Optional(url('The address at which the provider gives tokens')),
          revocationUrl: Type.Optional(url('Where a permission is withdrawn (RFC 7009)')),
          clientId: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
          clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
          scope: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
        }),
      ),
    }),
  }),
  success: {
    status: 200,
    schema: Exact({
      url: Type.String(),
      attempt: Type.String({ description: 'Encrypted; keep it until the browser comes back' }),
    }),
  },
})

export const finishMailSignIn = endpoint({
  method: 'PUT',
  path: `${path}/permission`,
  name: 'finishMailSignIn',
  tag,
  summary: 'Finish to connect a mailbox by OAuth 2',
  description:
    'Fetches the tokens, stores them encrypted and connects the mailbox, or says what the provider has answered.',
  scope: 'agents:write',
  params,
  body: Exact({
    attempt: Type.String({ minLength: 1, maxLength: 200_000 }),
    state: Type.String({ minLength: 1, maxLength: 1_000 }),
    code: Type.String({ minLength: 1, maxLength: 10_000 }),
  }),
  success: { status: 200, schema: Exact({ ok: Type.Boolean(), error: Nullable(Type.String()) }) },
  errors: ['RESOURCE_DUPLICATE'],
})
