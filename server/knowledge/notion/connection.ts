import type { Db, Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { GuardedFetcher } from '../../platform/fetch/guard/guarded-fetcher.ts'
import { placeOfRow } from '../../platform/secrets/sealed-columns.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { createNotionClient, type NotionClient } from './client/notion-client.ts'

export type Connection = { accessToken: string; baseUrl: string | null }

/** Stores the connection of an agent in place of the one it has. The token is encrypted. */
export async function putConnection(
  { db, secrets }: { db: Db; secrets: Secrets },
  { accountId, agentId }: AgentRef,
  { accessToken, baseUrl }: Connection,
): Promise<void> {
  await transact(db, async (trx) => {
    const access_token = await secrets.encrypt(trx, accessToken, placeOf(agentId))
    const values = { access_token, base_url: baseUrl }
    await trx
      .insertInto('pages_connections')
      .values({ agent_id: agentId, account_id: accountId, ...values })
      .onConflict((conflict) =>
        conflict.column('agent_id').doUpdateSet({ ...values, updated_at: new Date() }),
      )
      .execute()
  })
}

export async function deleteConnection(db: Db, ref: AgentRef): Promise<void> {
  await db.deleteFrom('pages_connections').where(ofAgent(ref)).execute()
}

const placeOf = (agentId: string) => placeOfRow('pages_connections', agentId, 'access_token')

/** A clone uses the connection of the original for its re-syncs. */
export async function copyConnection(
  { secrets }: { secrets: Secrets },
  trx: Trx,
  accountId: AccountId,
  fromAgentId: string,
  toAgentId: string,
): Promise<void> {
  const row = await rowOf(trx, { accountId, agentId: fromAgentId })
  if (!row) return
  const token = await secrets.decrypt(row.access_token, placeOf(fromAgentId), trx)
  const access_token = await secrets.encrypt(trx, token, placeOf(toAgentId))
  await trx
    .insertInto('pages_connections')
    .values({ ...row, agent_id: toAgentId, account_id: accountId, access_token })
    .execute()
}

export async function isConnected(db: Db, { accountId, agentId }: AgentRef): Promise<boolean> {
  return (await rowOf(db, { accountId, agentId })) !== undefined
}

/** Returns a client for the agent's connected workspace, or null when there is none. */
export async function connectedClient(
  { db, secrets, fetcher }: { db: Db; secrets: Secrets; fetcher: GuardedFetcher },
  { accountId, agentId }: AgentRef,
  options: { signal?: AbortSignal; timeoutMs?: number; retries?: number } = {},
): Promise<NotionClient | null> {
  const row = await rowOf(db, { accountId, agentId })
  if (!row) return null
  const accessToken = await secrets.decrypt(row.access_token, placeOf(agentId))
  return createNotionClient({ fetcher, accessToken, baseUrl: row.base_url, ...options })
}

export function rowOf(db: Db, ref: AgentRef) {
  return db
    .selectFrom('pages_connections')
    .select(['access_token', 'base_url'])
    .where(ofAgent(ref))
    .executeTakeFirst()
}
