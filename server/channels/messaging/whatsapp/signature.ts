import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const HEADER = 'x-hub-signature-256'

const claimed = (headers: IncomingHttpHeaders): string | undefined =>
  /^sha256=([0-9a-f]{64})$/i.exec(String(headers[HEADER] ?? ''))?.[1]

/** Whether there is a signature at all, which can be told before the body. */
export const claimsSignature = (headers: IncomingHttpHeaders): boolean => claimed(headers) !== undefined

/** Whether the header holds the HMAC of the raw body under this app secret. */
export function isSigned(headers: IncomingHttpHeaders, body: Uint8Array, secret: string): boolean {
  const given = claimed(headers)
  if (!given) return false
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/** The subscription's question; its challenge is a number, and nothing else is ever repeated to anybody. */
export function readHandshake(query: Record<string, unknown>): { token: string; challenge: string } | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null
  return /^[\w-]{1,200}$/.test(challenge) ? { token, challenge } : null
}
