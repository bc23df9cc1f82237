import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { SignedRequest } from '../connection/provider-adapter.ts'

const HEADER = 'x-hub-signature-256'

const claimed = (headers: IncomingHttpHeaders): string | undefined =>
  /^sha256=([0-9a-f]{64})$/i.exec(String(headers[HEADER] ?? ''))?.[1]

/** Returns whether there is a signature, which can be checked before the body is read. */
export const claimsSignature = (headers: IncomingHttpHeaders): boolean => claimed(headers) !== undefined

/** Returns whether the header is the HMAC of the raw body with this app secret. */
export function isSigned({ headers, body }: SignedRequest, secret: string): boolean {
  const given = claimed(headers)
  if (!given) return false
  return timingSafeEqual(Buffer.from(given, 'hex'), createHmac('sha256', secret).update(body).digest())
}

/** Reads the verification request. The challenge must be a number, because nothing else may be sent back. */
export function readHandshake(query: Record<string, unknown>): { token: string; challenge: string } | null {
  const { 'hub.mode': mode, 'hub.verify_token': token, 'hub.challenge': challenge } = query
  if (mode !== 'subscribe' || typeof token !== 'string' || typeof challenge !== 'string') return null
  return /^[\w-]{1,200}$/.test(challenge) ? { token, challenge } : null
}
