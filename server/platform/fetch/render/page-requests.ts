import type { Route } from 'playwright-core'
import { FetchFailure } from '../failures/fetch-failure.ts'
import type { GuardedFetcher } from '../guard/guarded-fetcher.ts'
import { hasConsent, isReadable, needsConsent, type PageRequest } from './cross-origin.ts'

type Page = { url: URL; html: string }

export type PageRequests = {
  /** Answers one request of the browser, or refuses it. */
  handle(route: Route): Promise<void>
  /** Milliseconds since the last response; 0 while a request is pending. Refused requests do not count. */
  quietMs(): number
}

const MAX_REQUESTS = 200
const MAX_BYTES = 20 * 1_048_576
const MAX_OF_ONE = 5 * 1_048_576
// Each response may use this share of the remaining size, so that all together never exceed it.
const AT_ONCE = 4
const MAX_SENT = 100_000
const REQUEST_MS = 10_000

// Requests that are refused anyway need not leave the page's process.
const withinPage =
  "connect-src http: https: data: blob:; frame-src 'none'; object-src 'none'; img-src 'none'; media-src 'none'; " +
  "font-src 'none'; manifest-src 'none'; form-action 'none'"

const BROKEN_OFF = new Set(['too_large', 'timeout', 'bad_response'])
const methods = new Set(['GET', 'HEAD', 'POST'])
// These headers are removed, because there are no cookies and the browser should not be identified.
const unsent =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|upgrade.*|te|trailer|expect|keep-alive|proxy-.*|cookie|user-agent|origin|referer|sec-.*|if-.*|range|priority|dnt|pragma|cache-control)$/
const passedOn = /^(?:content-type|x-.*|access-control-allow-credentials|access-control-expose-headers)$/

/**
 * Answers the requests of a page while its scripts run. The page itself was read before. Scripts and their requests
 * go through the guarded fetcher, and style sheets are empty. Anything else is refused, above all other pages.
 */
export function createPageRequests(page: Page, fetcher: GuardedFetcher, signal: AbortSignal): PageRequests {
  let isDelivered = false
  let requests = 0
  let bytes = 0
  let open = 0
  let changedAt = performance.now()
  const waiting: (() => void)[] = []

  const turn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (open >= AT_ONCE) await new Promise<void>((next) => waiting.push(next))
    open += 1
    try {
      return await work()
    } finally {
      open -= 1
      waiting.shift()?.()
    }
  }

  const fetchFor = async (request: PageRequest, body: Buffer | null, isScript: boolean) => {
    const options = { timeoutMs: REQUEST_MS, signal }
    const { origin } = page.url
    if (needsConsent(origin, request)) {
      requests += 1
      if (!(await hasConsent(fetcher, origin, request, options))) return null
    }
    const maxBytes = Math.min(MAX_OF_ONE, Math.floor((MAX_BYTES - bytes) / AT_ONCE))
    const { method, headers } = request
    // A body is not sent to the target of a redirect.
    const sent = body ? { body, maxRedirects: 0 } : {}
    try {
      const answer = await fetcher.fetch(request.url, { ...options, ...sent, method, headers, maxBytes })
      bytes += answer.body.length
      return isReadable(origin, isScript, answer) ? answer : null
    } catch (error) {
      // It is not known how much had arrived.
      if (error instanceof FetchFailure && BROKEN_OFF.has(error.code)) bytes += maxBytes
      throw error
    }
  }

  const load = async (route: Route, isScript: boolean): Promise<void> => {
    const request = requestOf(route, page.url)
    const body = route.request().postDataBuffer()
    if (!request || (body?.length ?? 0) > MAX_SENT) return route.abort()
    const answer = await turn(() => fetchFor(request, body, isScript)).catch(() => null)
    if (!answer) return route.abort()
    const headers = Object.entries(answer.headers).filter(([name]) => passedOn.test(name))
    return route.fulfill({
      status: answer.status,
      headers: { ...Object.fromEntries(headers), 'access-control-allow-origin': page.url.origin },
      body: Buffer.from(answer.body),
    })
  }

  /** Returns null for a request that is refused, which changes nothing in the page. */
  const answerTo = (route: Route): (() => Promise<void>) | null => {
    const type = route.request().resourceType()
    if (type === 'stylesheet') return () => route.fulfill({ contentType: 'text/css', body: '' })
    if (type === 'script' || type === 'xhr' || type === 'fetch')
      return ++requests > MAX_REQUESTS ? null : () => load(route, type === 'script')
    if (type !== 'document' || isDelivered || route.request().url() !== page.url.href) return null
    isDelivered = true
    return () =>
      route.fulfill({
        headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': withinPage },
        body: page.html,
      })
  }

  let answering = 0
  return {
    async handle(route) {
      const answer = answerTo(route)
      // With this error code, the browser stays on the page instead of showing an error page.
      if (!answer) return route.abort('aborted').catch(() => {})
      answering += 1
      // The request may no longer exist when it is answered.
      await answer().catch(() => {})
      answering -= 1
      changedAt = performance.now()
    },
    quietMs: () => (answering > 0 ? 0 : performance.now() - changedAt),
  }
}

function requestOf(route: Route, page: URL): PageRequest | null {
  const request = route.request()
  const url = URL.parse(request.url())
  const method = request.method().toUpperCase()
  if (!url || !/^https?:$/.test(url.protocol) || !methods.has(method)) return null
  const given = Object.entries(request.headers()).filter(([name]) => !unsent.test(name))
  const isElsewhere = url.origin !== page.origin
  const origin: Record<string, string> = isElsewhere || method === 'POST' ? { origin: page.origin } : {}
  const referer = isElsewhere ? `${page.origin}/` : page.href
  return { url, method, headers: { ...Object.fromEntries(given), ...origin, referer } }
}
