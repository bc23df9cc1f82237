import { sql } from 'kysely'
import { type Figures, load } from './load.ts'
import { prepare, start, stop } from './service.ts'

type ListResult = { scenario: 'list'; database: string; conversations: number; service: Figures }

/** Measures the first page of the conversation list and pages in its middle, one request at a time. */
export async function listScenario(server: string | null, conversations: number): Promise<ListResult> {
  const prepared = await prepare(server, 20, async (db, { accountId, agentId }) => {
    await sql`insert into conversations (id, account_id, agent_id, source, status, title, created_at, updated_at)
      select gen_random_uuid(), ${accountId}, ${agentId}, 'API', 'ongoing', 'Conversation ' || i,
        now() - i * interval '10 seconds', now() - i * interval '5 seconds'
      from generate_series(1, ${sql.lit(conversations)}) as i`.execute(db)
    await sql`vacuum analyze conversations`.execute(db)
  })
  const { url, child } = await start(['server/main.ts'], prepared.env)
  const ask = (i: number) => ({
    path: `/api/v2/agents/${prepared.agentId}/conversations${i % 2 ? `?endDate=${new Date(Date.now() - i * 3_600_000).toISOString()}` : ''}`,
    method: 'GET' as const,
    headers: { authorization: `Bearer ${prepared.keys[i % prepared.keys.length]}` },
  })
  const shape = { mark: '"data"', end: '"pagination"' }
  await load(url, { concurrency: 1, count: 20, make: ask, ...shape })
  const service = await load(url, { concurrency: 1, count: 400, make: ask, ...shape })
  await stop(child)
  await prepared.remove()
  return { scenario: 'list', database: server ? 'PostgreSQL' : 'embedded', conversations, service }
}
