import type { Context } from '../../context.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import { createNotionClient } from './client/notion-client.ts'
import { NotionFailure } from './client/notion-failure.ts'
import type { Connection } from './connection.ts'

/**
 * Requests a page from the workspace, so that a wrong token is noticed before sources fail. Throws
 * VALIDATION_INVALID_BODY for a token that the workspace refuses, and PAGES_CONNECTION_FAILED when it cannot be
 * reached.
 */
export async function tryConnection(
  { fetcher }: Pick<Context, 'fetcher'>,
  { accessToken, baseUrl }: Connection,
): Promise<void> {
  const client = createNotionClient({ fetcher, accessToken, baseUrl, timeoutMs: 15_000, retries: 1 })
  try {
    await client.search({ cursor: null, limit: 1 })
  } catch (error) {
    if (!(error instanceof NotionFailure)) throw error
    if (error.code === 'unauthorized') throw invalidField('accessToken', 'The workspace rejected this token.')
    throw new ApiError('PAGES_CONNECTION_FAILED', { message: error.message, cause: error })
  }
}
