import { Agent, type Dispatcher, getSetCookies, Headers } from 'undici'
import { describeFailure } from '../failures/describe-failure.ts'
import { FetchFailure } from '../failures/fetch-failure.ts'
import { acceptedEncodings } from '../read/read-body.ts'
import { type FetchedPage, type FetchOptions, readPage } from '../read/read-page.ts'
import { checkUrl } from './check-url.ts'
import { type Hop, isRedirect, nextHop } from './next-hop.ts'
import { createPinnedConnector, type ResolveHost, resolveWithSystem } from './pinned-connector.ts'
import { type PrivateHosts, parsePrivateHosts } from './private-hosts.ts'

export type GuardedFetcher = {
  fetch(url: string | URL, options: FetchOptions): Promise<FetchedPage>
  close(): Promise<void>
}

type Settings = {
  /** The entries `host` or `host:port` that may resolve to private addresses. */
  allowedPrivateHosts: readonly string[]
  userAgent: string
  connectTimeoutMs?: number
  resolve?: ResolveHost
}

const maxHeaderBytes = 32_768
const MAX_COOKIES = 20
/** The headers, in lower case, that no caller may set. */
export const ownHeaders =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|upgrade|te|trailer|expect|keep-alive|proxy-.*)$/

/**
 * Fetches every URL that a user, a page or a model gave; nothing else may. It only reaches public addresses and the
 * hosts that the operator allows, and checks every redirect again. Any HTTP status is a result; everything else that
 * goes wrong is a FetchFailure.
 */
export function createGuardedFetcher(settings: Settings): GuardedFetcher {
  const privateHosts = parsePrivateHosts(settings.allowedPrivateHosts)
  const { resolve = resolveWithSystem, connectTimeoutMs = 10_000 } = settings
  const agent = new Agent({
    connect: createPinnedConnector(privateHosts, resolve, connectTimeoutMs),
    allowH2: false,
    maxHeaderSize: maxHeaderBytes,
    pipelining: 1,
  })

  return {
    close: () => agent.destroy(),
    async fetch(address, options) {
      const hop = firstHop(checkUrl(address, privateHosts), options, settings.userAgent)
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(), options.timeoutMs)
      const signal = options.signal ? AbortSignal.any([timeout.signal, options.signal]) : timeout.signal
      try {
        return await follow(agent, privateHosts, hop, options, signal)
      } catch (error) {
        if (options.signal?.aborted) throw new FetchFailure('aborted', 'The request was cancelled.', error)
        if (timeout.signal.aborted)
          throw new FetchFailure(
            'timeout',
            `${hop.url.host} took longer than ${options.timeoutMs / 1000} s.`,
            error,
          )
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function firstHop(url: URL, options: FetchOptions, userAgent: string): Hop {
  const headers: Record<string, string> = {
    accept: options.accept?.join(', ') ?? '*/*',
    'user-agent': userAgent,
  }
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (ownHeaders.test(name.toLowerCase()))
      throw new FetchFailure(
        'bad_request',
        `The header "${name}" is set by the connection and cannot be given.`,
      )
    headers[name.toLowerCase()] = value
  }
  return { url, method: (options.method ?? 'GET').toUpperCase(), headers, body: options.body }
}

async function follow(
  agent: Agent,
  privateHosts: PrivateHosts,
  first: Hop,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const redirects: string[] = []
  const seen = new Set<string>()
  const jar: CookieJar = new Map()
  let hop = first
  for (;;) {
    // Some pages set a cookie and redirect to themselves, so the same address with other cookies is no loop.
    const visit = `${hop.method} ${hop.url.href} ${cookiesFor(hop.url, jar)}`
    if (seen.has(visit)) throw new FetchFailure('redirect_loop', `${first.url.host} redirects in a loop.`)
    seen.add(visit)
    const { host } = hop.url
    try {
      const answer = await send(agent, withCookies(hop, jar), options, signal)
      const location = isRedirect(answer.statusCode) ? headerText(answer.headers.location) : undefined
      if (location === undefined) return await readPage(answer, hop, redirects, options)
      answer.body.on('error', () => {}).destroy()
      if (redirects.length >= (options.maxRedirects ?? 5))
        throw new FetchFailure('too_many_redirects', `${first.url.host} redirects too many times.`)
      redirects.push(hop.url.href)
      keepCookies(answer.headers['set-cookie'], hop.url, jar)
      hop = nextHop(hop, answer.statusCode, checkUrl(location, privateHosts, hop.url))
    } catch (error) {
      throw describeFailure(error, host)
    }
  }
}

type Cookie = { value: string; isSecure: boolean }
/** The cookies of the redirects of one fetch, by host and name. */
type CookieJar = Map<string, Map<string, Cookie>>

/**
 * Remembers the cookies of a redirect for the rest of this fetch. They go only to the host that has set them, so paths and
 * domains do not matter.
 */
function keepCookies(lines: string | string[] | undefined, { host }: URL, jar: CookieJar): void {
  const headers = new Headers()
  for (const line of [lines ?? []].flat()) headers.append('set-cookie', line)
  const cookies = jar.get(host) ?? new Map<string, Cookie>()
  jar.set(host, cookies)
  for (const { name, value, maxAge, expires, secure } of getSetCookies(headers)) {
    const isOver = maxAge === undefined ? expires && Number(expires) <= Date.now() : maxAge <= 0
    if (isOver) cookies.delete(name)
    else if (cookies.has(name) || cookies.size < MAX_COOKIES)
      cookies.set(name, { value, isSecure: secure === true })
  }
}

function cookiesFor({ host, protocol }: URL, jar: CookieJar): string {
  const cookies = [...(jar.get(host) ?? [])].filter(([, { isSecure }]) => !isSecure || protocol === 'https:')
  return cookies.map(([name, { value }]) => `${name}=${value}`).join('; ')
}

function withCookies(hop: Hop, jar: CookieJar): Hop {
  const cookies = cookiesFor(hop.url, jar)
  if (cookies === '') return hop
  const own = hop.headers.cookie === undefined ? [] : [hop.headers.cookie]
  return { ...hop, headers: { ...hop.headers, cookie: [...own, cookies].join('; ') } }
}

function send(
  agent: Agent,
  hop: Hop,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const idleMs = options.idleTimeoutMs ?? options.timeoutMs
  return agent.request({
    origin: hop.url.origin,
    path: hop.url.pathname + hop.url.search,
    method: hop.method,
    headers: { ...hop.headers, 'accept-encoding': acceptedEncodings },
    body: hop.body ?? null,
    headersTimeout: idleMs,
    bodyTimeout: idleMs,
    signal,
  })
}

// Header bytes arrive as Latin-1 text, but a Location that is not plain ASCII is UTF-8 in practice.
function headerText(value: string | string[] | undefined): string | undefined {
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined ? undefined : Buffer.from(first, 'latin1').toString('utf8')
}
