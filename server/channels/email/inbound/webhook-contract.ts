import Type from 'typebox'
import { Exact, Success } from '../../../platform/http/contract.ts'
import { rawEndpoint } from '../../../platform/http/raw-endpoint.ts'

/** The size limit of a mail: 25 MB of attachments in their encoded form. */
export const MAX_MAIL_BYTES = 40 * 1024 * 1024

const Header = { minLength: 1, maxLength: 1_000 }

export const receiveMail = rawEndpoint({
  method: 'POST',
  path: '/webhooks/email/{agentId}',
  name: 'receiveMail',
  tag: 'Webhooks',
  summary: 'Receive a mail',
  description:
    'Your mail server, or a service that receives mail, posts the unchanged mail. It may have at most 40 MB.',
  access: 'signature',
  params: Exact({
    agentId: Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: '^[\\w-]+$',
      description: 'The agent that the channel belongs to',
    }),
  }),
  headers: Exact({
    'X-Timestamp': Type.String({
      ...Header,
      pattern: '^\\d{1,12}$',
      description: 'Unix seconds, at most five minutes from now',
    }),
    'X-Signature': Type.String({
      ...Header,
      pattern: '^[0-9a-fA-F]{64}$',
      description:
        'HMAC-SHA256, in hex, of timestamp, a dot and the body with the inboundSecret of the connection',
    }),
  }),
  body: {
    as: 'stream',
    types: ['message/rfc822', 'application/octet-stream', 'text/plain'],
    maxBytes: MAX_MAIL_BYTES,
    schema: Type.String({ format: 'binary', maxLength: MAX_MAIL_BYTES }),
  },
  success: { status: 200, description: 'The mail is stored', types: ['application/json'], schema: Success },
  unknown: 'WEBHOOK_SIGNATURE_INVALID',
})
