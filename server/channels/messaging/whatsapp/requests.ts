import { setTimeout as wait } from 'node:timers/promises'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import type { ProviderAdapter } from '../connection/provider-adapter.ts'
import { ProviderFailure } from '../connection/provider-failure.ts'
import { type JsonObject, objectOf, parseObject, text } from '../connection/untrusted-json.ts'
import { failureOf, failureOfFetch } from './read-failure.ts'

const PUBLIC_URL = 'https://graph.facebook.com'
const VERSION = 'v24.0'
const PAGE_SIZE = 100
/** A longer list repeats itself. */
const MAX_PAGES = 500
const MAX_BYTES = 8 * 1_048_576
/** The size limit of a whole list, far above what a business account can have. */
const MAX_LIST_BYTES = 16 * 1_048_576
const MAX_ITEMS = 10_000
const BACKOFF_MS = 250
const MAX_BACKOFF_MS = 3_000

type Request = { method: 'GET' | 'POST'; body?: string | Uint8Array; type?: string; maxBytes?: number }

export type Requests = ReturnType<typeof createRequests>

/** Sends requests to the published REST API. Those that read may be retried; those that send are not. */
export function createRequests({
  fetcher,
  access: { accessToken, baseUrl },
  signal,
  timeoutMs = 20_000,
  retries = 2,
}: Parameters<ProviderAdapter['client']>[0]) {
  const base = baseUrl ?? PUBLIC_URL

  async function fetchBytes(
    url: string,
    { method, body, type, maxBytes = MAX_BYTES }: Request,
  ): Promise<Uint8Array> {
    const answer = await fetcher
      .fetch(url, {
        method,
        headers: { authorization: `Bearer ${accessToken}`, ...(type ? { 'content-type': type } : {}) },
        ...(body === undefined ? {} : { body }),
        maxBytes,
        timeoutMs,
        // The token is sent only to the address that it was given for.
        maxRedirects: 0,
        ...(signal ? { signal } : {}),
      })
      .catch((error: unknown) => {
        throw failureOfFetch(error)
      })
    const { status, headers, body: bytes } = answer
    if (status < 200 || status > 299) throw failureOf(status, headers, parseObject(bytes))
    return bytes
  }

  async function call(path: string, request: Request): Promise<JsonObject> {
    return readable(await fetchBytes(`${base}/${VERSION}/${path}`, request))
  }

  async function reading<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries++) {
      try {
        return await work()
      } catch (error) {
        const mayPass =
          error instanceof ProviderFailure &&
          ['unreachable', 'uncertain', 'limited'].includes(error.code) &&
          !(error.cause instanceof FetchFailure && !error.cause.isPassing) &&
          !signal?.aborted
        const waitMs =
          (error instanceof ProviderFailure ? error.retryAfterMs : null) ?? BACKOFF_MS * 3 ** tries
        if (!mayPass || tries >= retries || waitMs > MAX_BACKOFF_MS) throw error
        await wait(waitMs)
      }
    }
  }

  return { base, fetchBytes, call, reading }
}

/**
 * Reads all pages and keeps only what `read` returns for each item. Also throws for a list that exceeds its
 * limits.
 */
export async function readList<T>(
  { base, fetchBytes, reading }: Requests,
  path: string,
  query: Record<string, string>,
  readItem: (item: JsonObject) => T | null,
): Promise<T[]> {
  const items: T[] = []
  const seen = new Set<string>()
  let itemsLeft = MAX_ITEMS
  let bytesLeft = MAX_LIST_BYTES
  for (let after = ''; ; ) {
    const params = new URLSearchParams({ ...query, limit: String(PAGE_SIZE), ...(after ? { after } : {}) })
    const url = `${base}/${VERSION}/${path}?${params}`
    const { data, paging } = await reading(async () => {
      const maxBytes = Math.max(1, Math.min(MAX_BYTES, bytesLeft))
      const bytes = await fetchBytes(url, { method: 'GET', maxBytes })
      bytesLeft -= bytes.byteLength
      return readable(bytes)
    })
    if (!Array.isArray(data))
      throw new ProviderFailure('unreachable', 'The channel sent an answer without a list.')
    itemsLeft -= data.length
    if (itemsLeft < 0)
      throw new ProviderFailure('too_large', `The account has a list of more than ${MAX_ITEMS} entries.`)
    for (const item of data) {
      const found = readItem(objectOf(item))
      if (found !== null) items.push(found)
    }
    const { next, cursors } = objectOf(paging)
    // Use the cursor and not the URL of the next page, because the token must not be sent to a URL from a response.
    after = text(objectOf(cursors).after)
    if (!next || after === '') return items
    if (seen.has(after) || seen.size >= MAX_PAGES)
      throw new ProviderFailure('unreachable', 'The channel repeatedly returned the same page of a list.')
    seen.add(after)
  }
}

function readable(bytes: Uint8Array): JsonObject {
  const value = parseObject(bytes)
  if (!value) throw new ProviderFailure('uncertain', 'The response of the channel cannot be read.')
  return value
}
