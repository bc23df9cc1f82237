import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import type { Db, Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables.ts'
import { createNotionClient, type NotionClient } from './notion-client.ts'

export type Connection = { accessToken: string; baseUrl: string | null }

/** Stores the connection of an agent in place of the one it has; the token is encrypted. */
export async function putConnection(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  accountId: AccountId,
  agentId: string,
  { accessToken, baseUrl }: Connection,
): Promise<void> {
  const values = { access_token: secrets.encrypt(accessToken), base_url: baseUrl }
  await db
    .insertInto('pages_connections')
    .values({ agent_id: agentId, account_id: accountId, ...values })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ ...values, updated_at: new Date() }))
    .execute()
}

export async function deleteConnection(db: Db, accountId: AccountId, agentId: string): Promise<void> {
  await db
    .deleteFrom('pages_connections')
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .execute()
}

/** A clone keeps its pages current by the connection of the original. */
export async function copyConnection(
  trx: Trx,
  accountId: AccountId,
  fromAgentId: string,
  toAgentId: string,
): Promise<void> {
  await sql`
    insert into pages_connections (agent_id, account_id, access_token, base_url)
    select ${toAgentId}, account_id, access_token, base_url from pages_connections
    where account_id = ${accountId} and agent_id = ${fromAgentId}`.execute(trx)
}

export async function isConnected(db: Db, accountId: AccountId, agentId: string): Promise<boolean> {
  return (await rowOf(db, accountId, agentId)) !== undefined
}

/** A client for the agent's connected workspace; null when there is none. */
export async function connectedClient(
  { db, secrets, fetcher }: Pick<Context, 'db' | 'secrets' | 'fetcher'>,
  accountId: AccountId,
  agentId: string,
  options: { signal?: AbortSignal; timeoutMs?: number; retries?: number } = {},
): Promise<NotionClient | null> {
  const row = await rowOf(db, accountId, agentId)
  if (!row) return null
  const accessToken = secrets.decrypt(row.access_token)
  return createNotionClient({ fetcher, accessToken, baseUrl: row.base_url, ...options })
}

function rowOf(db: Db, accountId: AccountId, agentId: string) {
  return db
    .selectFrom('pages_connections')
    .select(['access_token', 'base_url'])
    .where('account_id', '=', accountId)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
}
