import Type from 'typebox'
import { Exact } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

const path = '/webhooks/messaging/{agentId}'
const params = Exact({
  agentId: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: '^[\\w-]+$',
    description: 'The agent that the channel belongs to',
  }),
})
const Visible = { minLength: 1, maxLength: 1_000, pattern: '^[!-~]+$' }

export const verifyMessagingWebhook = rawEndpoint({
  method: 'GET',
  path,
  name: 'verifyMessagingWebhook',
  tag: 'Webhooks',
  summary: 'Verify the webhook',
  description: 'The provider sends this request once, with the verifyToken of a connected account.',
  access: 'signature',
  params,
  query: Exact({
    'hub.mode': Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '^subscribe$',
      description: 'Always `subscribe`',
    }),
    'hub.verify_token': Type.String({ ...Visible, description: 'The verifyToken of a connected account' }),
    'hub.challenge': Type.String({ ...Visible, description: 'Returned in the response' }),
  }),
  success: { status: 200, description: 'The challenge', types: ['text/plain'] },
  unknown: 'WEBHOOK_SIGNATURE_INVALID',
})

export const receiveMessagingWebhook = rawEndpoint({
  method: 'POST',
  path,
  name: 'receiveMessagingWebhook',
  tag: 'Webhooks',
  summary: 'Receive messages and statuses from the channel',
  description: 'The provider may deliver them repeatedly and in any order; each message is stored once.',
  access: 'signature',
  params,
  headers: Exact({
    'X-Hub-Signature-256': Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '^sha256=[0-9a-f]{64}$',
      description: 'HMAC-SHA256 of the body with the appSecret',
    }),
  }),
  body: {
    as: 'bytes',
    types: 'any',
    // The provider sends up to 3 MB.
    maxBytes: 4 * 1_048_576,
    schema: Type.Unsafe<object>({ type: 'object', description: "The body in the provider's format" }),
  },
  success: { status: 200, description: '`ok`', types: ['text/plain'] },
  unknown: 'WEBHOOK_SIGNATURE_INVALID',
})
