import type { Db } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { GuardedFetcher } from '../../../platform/fetch/guard/guarded-fetcher.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { NotionFailure } from '../client/notion-failure.ts'
import { connectedClient } from '../connection.ts'
import { type PageContent, readPage } from './read-page.ts'

type ConnectedPageRef = { accountId: AccountId; agentId: string; pageId: string }

/**
 * Returns a page of the agent's connected workspace, or null when it has not been edited since. Throws
 * NotionFailure.
 */
export async function readConnectedPage(
  ctx: { db: Db; secrets: Secrets; fetcher: GuardedFetcher },
  { accountId, agentId, pageId }: ConnectedPageRef,
  since: string | null,
  signal: AbortSignal,
): Promise<PageContent | null> {
  const client = await connectedClient(ctx, { accountId, agentId }, { signal })
  if (!client) throw new NotionFailure('not_connected', 'No workspace is connected. Connect it again.')
  return readPage(client, pageId, since)
}
