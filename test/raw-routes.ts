import { createHmac } from 'node:crypto'
import type { RawEndpoint } from '../server/platform/http/raw-endpoint.ts'
import { signatureOf } from './fakes/messaging-wire.ts'
import { type Schema, sampleOf } from './sample.ts'

/** The secrets with which tests reach an account through routes outside the APIs. */
export const SECRETS = {
  appSecret: (mark: string) => `app-secret-of-${mark}`,
  verifyToken: (mark: string) => `verify-${mark}`,
  inboundSecret: (mark: string) => `inbound-secret-that-is-long-enough-of-${mark}`,
}

export type Sent = { method: string; path: string; headers?: Record<string, string>; body?: string }

/** Values for parameters that are not ids. */
const NAMES: Record<string, string> = { name: 'icon', folder: 'guide', file: 'index' }

/** Adds what a contract cannot express: signatures and the account's secrets. */
const SIGNED: Record<string, (path: string, mark: string) => Omit<Sent, 'method'>> = {
  verifyMessagingWebhook: (path, mark) => ({
    path: `${path}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${SECRETS.verifyToken(mark)}`,
  }),
  receiveMessagingWebhook: signedMessage,
  receiveMail: signedMail,
}

/**
 * Returns valid requests to a route, signed with the secrets of `mark`: one for each parameter of its path, with `id`
 * in its place. A route without parameters gets one request.
 */
export function requestsTo(endpoint: RawEndpoint, id: string, mark: string): Sent[] {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  return (names.length > 0 ? names : ['']).map((place) => {
    const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === place ? id : (NAMES[name] ?? 'none'),
    )
    const signed = SIGNED[endpoint.name]?.(path, mark)
    return { method: endpoint.method, path, ...(signed ?? bodyFor(endpoint)) }
  })
}

function bodyFor({ body }: RawEndpoint): Pick<Sent, 'headers' | 'body'> {
  return body ? { headers: json, body: JSON.stringify(sampleOf(body.schema as Schema)) } : {}
}

const json = { 'content-type': 'application/json' }

function signedMail(path: string, mark: string): Omit<Sent, 'method'> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const body = `From: a@example.com\r\nTo: b@example.com\r\nMessage-ID: <${mark}@example.com>\r\nSubject: Hi\r\n\r\nHello`
  const signature = createHmac('sha256', SECRETS.inboundSecret(mark))
    .update(`${timestamp}.${body}`)
    .digest('hex')
  const headers = { 'content-type': 'message/rfc822', 'x-timestamp': timestamp, 'x-signature': signature }
  return { path, headers, body }
}

function signedMessage(path: string, mark: string): Omit<Sent, 'method'> {
  const body = JSON.stringify({ object: 'whatsapp_business_account', entry: [] })
  const headers = { ...json, 'x-hub-signature-256': signatureOf(body, SECRETS.appSecret(mark)) }
  return { path, headers, body }
}
