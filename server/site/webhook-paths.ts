import type { Json } from '../http/openapi/openapi-schemas.ts'

const text = (description: string): Json => ({
  description,
  content: { 'text/plain': { schema: { type: 'string', description } } },
})
const error = (description: string): Json => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})
const ID = { type: 'string', minLength: 1, maxLength: 100, pattern: '^[\\w-]+$' }
const agentId: Json = {
  name: 'agentId',
  in: 'path',
  required: true,
  description: 'The agent whose channel it is',
  schema: ID,
}
const parameter = (place: string, name: string, description: string, pattern: string): Json => ({
  name,
  in: place,
  required: true,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 1_000, pattern },
})
const shared = {
  tags: ['Webhooks'],
  // The signature, and not a key, says who asks.
  security: [],
}
const refused = {
  400: error('`VALIDATION_INVALID_JSON`'),
  401: error('`WEBHOOK_SIGNATURE_INVALID`'),
  413: error('`VALIDATION_BODY_TOO_LARGE`'),
  500: error('`INTERNAL_SERVER_ERROR`'),
  503: error('`SERVICE_UNDER_MAINTENANCE`, `SERVICE_OVERLOADED`'),
}

/** The webhooks of the channels, below the root: set up with the provider of the channel, called by nobody else. */
export const webhookPaths: Record<string, Json> = {
  '/webhooks/messaging/{agentId}': {
    get: {
      ...shared,
      operationId: 'verifyMessagingWebhook',
      summary: 'Prove that the webhook is yours',
      description: 'The provider asks once, with the verifyToken of a connected account.',
      parameters: [
        agentId,
        parameter('query', 'hub.mode', 'Always `subscribe`', '^subscribe$'),
        parameter('query', 'hub.verify_token', 'The verifyToken of a connected account', '^[!-~]+$'),
        parameter('query', 'hub.challenge', 'Is sent back', '^[!-~]+$'),
      ],
      responses: { 200: text('The challenge'), ...refused },
    },
    post: {
      ...shared,
      operationId: 'receiveMessagingWebhook',
      summary: 'Messages and statuses from the channel',
      description: 'At least once and in any order; each message is stored once.',
      parameters: [
        agentId,
        parameter(
          'header',
          'X-Hub-Signature-256',
          'HMAC-SHA256 of the body with the appSecret',
          '^sha256=[0-9a-f]{64}$',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: { type: 'object', description: 'As the provider sends it' } },
        },
      },
      responses: { 200: text('`ok`'), ...refused },
    },
  },
  '/webhooks/email/{agentId}': {
    post: {
      ...shared,
      operationId: 'receiveMail',
      summary: 'A mail as it came',
      description: 'From a mail server of your own or a service that receives mail. At most 40 MB.',
      parameters: [
        agentId,
        parameter('header', 'X-Timestamp', 'Unix seconds, at most five minutes from now', '^\\d{1,12}$'),
        parameter(
          'header',
          'X-Signature',
          'HMAC-SHA256, in hex, of timestamp, a dot and the body with the inboundSecret of the connection',
          '^[0-9a-fA-F]{64}$',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'message/rfc822': { schema: { type: 'string', format: 'binary', maxLength: 41_943_040 } },
        },
      },
      responses: {
        200: {
          description: 'The mail is stored',
          content: {
            'application/json': {
              schema: { type: 'object', required: ['success'], properties: { success: { const: true } } },
            },
          },
        },
        ...refused,
      },
    },
  },
}
