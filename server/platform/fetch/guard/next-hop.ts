export type Hop = {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | undefined
}

const bodyHeaders = new Set(['content-type', 'content-encoding', 'content-language', 'content-location'])
// The only headers of the caller that are sent to another origin, because any other header may contain a secret.
const harmlessHeaders = new Set(['accept', 'accept-language', 'user-agent', ...bodyHeaders])

/**
 * Returns the request that a redirect asks for (Fetch Standard, HTTP-redirect fetch). Header names are in lower case.
 */
export function nextHop(hop: Hop, status: number, url: URL): Hop {
  const becomesGet =
    (status === 303 && hop.method !== 'HEAD') || ((status === 301 || status === 302) && hop.method === 'POST')
  const kept = Object.entries(hop.headers).filter(
    ([name]) =>
      !(becomesGet && bodyHeaders.has(name)) && (url.origin === hop.url.origin || harmlessHeaders.has(name)),
  )
  return {
    url,
    method: becomesGet ? 'GET' : hop.method,
    headers: Object.fromEntries(kept),
    body: becomesGet ? undefined : hop.body,
  }
}

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}
