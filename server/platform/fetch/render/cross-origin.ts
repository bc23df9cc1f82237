import type { GuardedFetcher } from '../guard/guarded-fetcher.ts'

export type PageRequest = { url: URL; method: string; headers: Record<string, string> }

type Answered = { url: string; headers: Record<string, string>; contentType: string | null }

// What a page may send to other origins without a preflight (Fetch Standard, "CORS-safelisted").
const simpleMethods = new Set(['GET', 'HEAD', 'POST'])
const simpleHeaders = new Set(['accept', 'accept-language', 'content-language', 'referer', 'origin'])
const simpleTypes = /^(?:text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)(?:;|$)/i
const scriptTypes = /^(?:text|application)\/(?:x-)?(?:javascript|ecmascript)$/

const PREFLIGHT = { maxBytes: 65_536, maxRedirects: 0 }

/**
 * Returns whether a page may read a response: one of its own origin, one that permits it, or a script. The browser
 * cannot decide this, because it does not learn where redirects led, and its driver permits every response that is
 * sent here.
 */
export function isReadable(origin: string, isScript: boolean, answer: Answered): boolean {
  if (new URL(answer.url).origin === origin || allowsOrigin(origin, answer.headers)) return true
  return isScript && scriptTypes.test(answer.contentType ?? '')
}

/** Returns whether a page may send a request only to an origin that permits it. */
export const needsConsent = (origin: string, { url, method, headers }: PageRequest): boolean =>
  url.origin !== origin && (!simpleMethods.has(method) || unusualHeaders(headers).length > 0)

/** Asks the other origin for permission (Fetch Standard, "CORS-preflight fetch"). Throws FetchFailure. */
export async function hasConsent(
  fetcher: GuardedFetcher,
  origin: string,
  { url, method, headers }: PageRequest,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<boolean> {
  const unusual = unusualHeaders(headers)
  const asked = {
    origin,
    'access-control-request-method': method,
    ...(unusual.length > 0 ? { 'access-control-request-headers': unusual.join(',') } : {}),
  }
  const answer = await fetcher.fetch(url, { method: 'OPTIONS', headers: asked, ...PREFLIGHT, ...options })
  const methods = listOf(answer.headers['access-control-allow-methods'])
  const names = listOf(answer.headers['access-control-allow-headers'])
  return (
    answer.status >= 200 &&
    answer.status < 300 &&
    allowsOrigin(origin, answer.headers) &&
    (simpleMethods.has(method) || methods.includes('*') || methods.includes(method.toLowerCase())) &&
    unusual.every((name) => names.includes(name) || (names.includes('*') && name !== 'authorization'))
  )
}

const unusualHeaders = (headers: Record<string, string>): string[] =>
  Object.entries(headers)
    .filter(([name, value]) =>
      name === 'content-type' ? !simpleTypes.test(value) : !simpleHeaders.has(name),
    )
    .map(([name]) => name)
    .sort()

const allowsOrigin = (origin: string, headers: Record<string, string>): boolean =>
  ['*', origin].includes(headers['access-control-allow-origin']?.trim() ?? '')

const listOf = (header: string | undefined): string[] =>
  (header ?? '').split(',').map((item) => item.trim().toLowerCase())
