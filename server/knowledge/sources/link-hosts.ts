import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

const MAX_HOSTS = 1_000

/** Returns the websites that an agent's owner has named: the allowed domains and the hosts of its links. */
export async function linkHostsOf(db: Db, { accountId, agentId }: AgentRef): Promise<string[]> {
  const { rows } = await sql<{ host: string }>`
    select jsonb_array_elements_text(allowed_domains) as host from agents
    where account_id = ${accountId} and id = ${agentId} and jsonb_typeof(allowed_domains) = 'array'
    union
    (select distinct lower(substring(url from '^https?://([^/?#:@]+)')) from sources
      where account_id = ${accountId} and agent_id = ${agentId} and url is not null limit ${MAX_HOSTS})`.execute(
    db,
  )
  return rows.flatMap(({ host }) => host ?? [])
}
