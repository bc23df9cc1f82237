import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { FetchFailure, type FetchFailureCode } from '../../platform/fetch/failures/fetch-failure.ts'
import type { GuardedFetcher } from '../../platform/fetch/guard/guarded-fetcher.ts'
import type { SourceRow } from './queries.ts'

const TIMEOUT_MS = 15_000
/** The failures after which the server may still answer without encryption. */
const NO_CONNECTION: readonly FetchFailureCode[] = ['connect_failed', 'tls_failed', 'timeout']

type Deps = { db: Db; fetcher: GuardedFetcher }
type Link = Pick<SourceRow, 'id' | 'account_id' | 'url' | 'content' | 'content_version'>

/**
 * Returns the URL at which a link is read. When its owner has left the choice to the service, that is its http URL if
 * only that can be connected to. The first URL that answers is kept as that of the source.
 */
export async function settleUrl({ db, fetcher }: Deps, source: Link, signal: AbortSignal): Promise<string> {
  const url = source.url ?? ''
  if (!source.content.allowHttp) return url
  const settled = await answering(fetcher, url, signal)
  if (settled === null) return url
  try {
    await db
      .updateTable('sources')
      .set({ url: settled, name: settled, content: json({}) })
      .where(ownRow(source.account_id, source.id))
      .where('content_version', '=', source.content_version)
      .execute()
    return settled
  } catch (error) {
    // The agent already has a source with that URL.
    if (violates(error, 'sources_link')) return url
    throw error
  }
}

/** Returns which of the https URL and its http variant answers, whatever the status; null for neither. */
async function answering(fetcher: Deps['fetcher'], url: string, signal: AbortSignal): Promise<string | null> {
  // Where it redirects says nothing about the connection.
  const secure = await connect(fetcher, url, { maxRedirects: 0, signal })
  if (secure === null || secure === 'too_many_redirects') return url
  const plain = url.replace(/^https:/, 'http:')
  if (plain === url || !NO_CONNECTION.includes(secure)) return null
  return (await connect(fetcher, plain, { signal })) === null ? plain : null
}

/** Returns why there is no answer, or null. */
async function connect(
  fetcher: Deps['fetcher'],
  url: string,
  options: { signal: AbortSignal; maxRedirects?: number },
): Promise<FetchFailureCode | null> {
  try {
    await fetcher.fetch(url, { ...options, method: 'HEAD', maxBytes: 0, timeoutMs: TIMEOUT_MS })
    return null
  } catch (error) {
    if (!(error instanceof FetchFailure) || error.code === 'aborted') throw error
    return error.code
  }
}
