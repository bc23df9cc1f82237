import { setTimeout as wait } from 'node:timers/promises'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import type { GuardedFetcher } from '../../../platform/fetch/guard/guarded-fetcher.ts'
import { NotionFailure } from './notion-failure.ts'
import { createPace } from './pace.ts'
import { type Answer, problemOf, waitOf } from './read-answer.ts'
import type { Block, List, Page } from './wire.ts'

export type NotionClient = {
  page(id: string): Promise<Page>
  database(id: string): Promise<Page>
  children(blockId: string, cursor: string | null): Promise<List<Block>>
  rows(databaseId: string, cursor: string | null): Promise<List<Page>>
  /** Returns the pages that the token may see, the last edited first. */
  search(options: { query?: string; cursor: string | null; limit: number }): Promise<List<Page>>
}

type Settings = {
  fetcher: GuardedFetcher
  accessToken: string
  /** null is the service's public URL. */
  baseUrl: string | null
  signal?: AbortSignal
  timeoutMs?: number
  /** The number of retries. */
  retries?: number
}

const PUBLIC_URL = 'https://api.notion.com'
const VERSION = '2022-06-28'
const PAGE_SIZE = 100
const MAX_BYTES = 16 * 1_048_576
const BACKOFF_MS = 500

/**
 * A client of the public REST API of the connected workspace, which allows three requests a second. Temporary
 * failures are retried; others throw NotionFailure.
 */
export function createNotionClient(settings: Settings): NotionClient {
  const { fetcher, accessToken, baseUrl, signal, timeoutMs = 30_000, retries = 4 } = settings
  const base = (baseUrl ?? PUBLIC_URL).replace(/\/+$/, '')
  const pace = createPace({ perSecond: 3, burst: 10 })

  async function send(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    await pace(signal)
    try {
      const {
        status,
        headers,
        body: bytes,
      } = await fetcher.fetch(`${base}/v1/${path}`, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          'notion-version': VERSION,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        maxBytes: MAX_BYTES,
        timeoutMs,
        // The token is sent only to the URL that it was given for.
        maxRedirects: 0,
        ...(signal ? { signal } : {}),
      })
      return { status, headers, bytes }
    } catch (error) {
      if (error instanceof FetchFailure) return { failure: error }
      throw error
    }
  }

  async function call<T>(method: 'GET' | 'POST', path: string, body?: object): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      const answer = await send(method, path, body)
      const problem = problemOf(answer)
      if ('value' in problem) return problem.value as T
      const { failure } = problem
      if (!failure.isTransient || tries >= retries || signal?.aborted) throw failure
      const delayMs = waitOf(answer) ?? BACKOFF_MS * 2 ** tries
      if (delayMs > 60_000) throw failure
      await wait(delayMs, undefined, signal ? { signal } : {})
    }
  }

  const list = async <T>(method: 'GET' | 'POST', path: string, body?: object): Promise<List<T>> => {
    const { results, next_cursor, has_more } = await call<Partial<List<T>>>(method, path, body)
    if (!Array.isArray(results))
      throw new NotionFailure('broken', 'The workspace sent an answer without a list.')
    const next = has_more === true && typeof next_cursor === 'string' ? next_cursor : null
    return { results, next_cursor: next, has_more: next !== null }
  }
  const start = (cursor: string | null): Record<string, string> =>
    cursor === null ? {} : { start_cursor: cursor }
  const segment = encodeURIComponent

  return {
    page: (id) => call('GET', `pages/${segment(id)}`),
    database: (id) => call('GET', `databases/${segment(id)}`),
    children: (id, cursor) =>
      list(
        'GET',
        `blocks/${segment(id)}/children?${new URLSearchParams({ page_size: String(PAGE_SIZE), ...start(cursor) })}`,
      ),
    rows: (id, cursor) =>
      list('POST', `databases/${segment(id)}/query`, { page_size: PAGE_SIZE, ...start(cursor) }),
    search: ({ query, cursor, limit }) =>
      list('POST', 'search', {
        ...(query ? { query } : {}),
        filter: { property: 'object', value: 'page' },
        sort: { direction: 'descending', timestamp: 'last_edited_time' },
        page_size: limit,
        ...start(cursor),
      }),
  }
}
