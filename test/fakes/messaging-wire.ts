import { createHmac } from 'node:crypto'

/** Request and webhook bodies as documented by the messaging channel. */

export type FakeTemplate = {
  id: string
  name: string
  language: string
  category: string
  status: string
  parameter_format?: string
  components: object[]
}

export const fakeTemplate = (name: string, body: string, more: Partial<FakeTemplate> = {}): FakeTemplate => ({
  id: `t-${name}-${more.language ?? 'en'}`,
  name,
  language: 'en',
  category: 'UTILITY',
  status: 'APPROVED',
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: body }],
  ...more,
})

type From = { account: string; number: string; from: string; name?: string }

/** Returns a webhook body with one change of one account, as most webhooks have. */
export const webhookOf = (account: string, value: object, field = 'messages'): object => ({
  object: 'whatsapp_business_account',
  entry: [{ id: account, changes: [{ field, value: { messaging_product: 'whatsapp', ...value } }] }],
})

/**
 * Returns the webhook for a message from a person. `seconds` is a Unix time; `message` is the part specific to the
 * message's type.
 */
export function messageWebhook(
  { account, number, from, name = 'Pat' }: From,
  id: string,
  seconds: number,
  message: { type: string; [part: string]: unknown },
): object {
  return webhookOf(account, {
    metadata: { display_phone_number: '15550001111', phone_number_id: number },
    contacts: [{ profile: { name }, wa_id: from }],
    messages: [{ from, id, timestamp: String(seconds), ...message }],
  })
}

export const textWebhook = (from: From, id: string, seconds: number, body: string): object =>
  messageWebhook(from, id, seconds, { type: 'text', text: { body } })

type FakeStatus = {
  id: string
  status: string
  recipient: string
  callback?: string
  error?: { code: number; title: string }
}

export const statusWebhook = (account: string, number: string, statuses: FakeStatus[]): object =>
  webhookOf(account, {
    metadata: { display_phone_number: '15550001111', phone_number_id: number },
    statuses: statuses.map(({ id, status, recipient, callback, error }) => ({
      id,
      status,
      timestamp: '1760000000',
      recipient_id: recipient,
      ...(callback ? { biz_opaque_callback_data: callback } : {}),
      ...(error
        ? { errors: [{ ...error, message: error.title, error_data: { details: error.title } }] }
        : {}),
    })),
  })

export const signatureOf = (body: string, secret: string): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

export const errorBody = (code: number, message: string): object => ({
  error: {
    message: `(#${code}) ${message}`,
    type: 'OAuthException',
    code,
    error_data: { messaging_product: 'whatsapp', details: message },
    fbtrace_id: 'A1',
  },
})
