import type { Static } from 'typebox'
import type { Context } from '../../../context.ts'
import type { AgentRef } from '../../../platform/db/refs.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { decodeCursor, encodeCursor, fingerprint } from '../../../platform/http/pagination.ts'
import { NotionFailure } from '../client/notion-failure.ts'
import { type Page, titleOf, webAddress } from '../client/wire.ts'
import { connectedClient } from '../connection.ts'
import type { listConnectedPages } from '../contract.ts'

type Answer = Static<(typeof listConnectedPages)['success']['schema']>
type PageQuery = { cursor?: string; limit: number; query?: string }

/** Somebody is waiting for the response, so the time limit is shorter than that of a re-sync. */
const PATIENCE = { timeoutMs: 15_000, retries: 1 }

/** Returns a page of the list. Throws PAGES_NOT_CONNECTED, PAGES_CONNECTION_FAILED and VALIDATION_INVALID_CURSOR. */
export async function listPages(
  ctx: Pick<Context, 'db' | 'secrets' | 'fetcher'>,
  { accountId, agentId }: AgentRef,
  { cursor, limit, query = '' }: PageQuery,
): Promise<Answer> {
  const print = fingerprint('connected-pages', agentId, query)
  // The provider pages through the list, so the cursor is its own.
  const position = decodeCursor(cursor, print, isPlace, (id) => id === '')
  const client = await connectedClient(ctx, { accountId, agentId }, PATIENCE)
  if (!client) throw new ApiError('PAGES_NOT_CONNECTED')
  try {
    const list = await client.search({ query, cursor: position?.value ?? null, limit })
    const next = list.next_cursor
    return {
      data: list.results.filter(({ id }) => typeof id === 'string').map(present),
      pagination: {
        cursor: next === null ? null : encodeCursor({ value: next, id: '' }, print),
        hasMore: next !== null,
      },
    }
  } catch (error) {
    if (!(error instanceof NotionFailure)) throw error
    throw new ApiError('PAGES_CONNECTION_FAILED', { message: error.message, cause: error })
  }
}

const isPlace = (value: string): boolean => value.length > 0 && value.length <= 500

function present(page: Page): Answer['data'][number] {
  const edited = new Date(page.last_edited_time ?? Number.NaN)
  return {
    id: page.id,
    title: titleOf(page),
    url: webAddress(page.url),
    updatedAt: Number.isNaN(edited.getTime()) ? null : edited.toISOString(),
  }
}
