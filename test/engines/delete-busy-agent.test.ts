import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from 'kysely'
import { createAgent } from '../../server/agents/records/create-agent.ts'
import { type Db, openPostgres } from '../../server/platform/db/database.ts'
import type { AccountId } from '../../server/platform/db/tables/columns.ts'
import { onPostgres } from '../database.ts'
import { chatThrough } from '../faults/chat-through.ts'
import { type FaultWorld, inFaultWorld } from '../faults/fault-world.ts'
import { paced, startTalkers } from '../faults/talkers.ts'
import { clientOf } from '../start.ts'
import { until } from '../until.ts'

const CHUNKS = 100_000
const SOURCES = 20

describe('a large agent', {
  skip: !onPostgres() && 'On the embedded database nothing else can run: set TEST_DATABASE_URL.',
}, () => {
  test('deleting it during an answer delays no other agent and removes all of its data', () =>
    inFaultWorld({}, async (world) => {
      const database = openPostgres(world.databaseUrl!, 2)
      try {
        const large = await fill(database.db, world)
        await chatThrough(world, async () => {
          const talkers = startTalkers(4, { ...paced(world), agentId: large })
          await until('answers of the large agent', () => talkers.answered() >= 2)
          const client = clientOf(world.services[0]!.url, world.keys[20]!)
          const { status } = await client.request('DELETE', `/agents/${large}`)
          assert.equal(status, 200)
          assert.equal((await client.request('GET', `/agents/${large}`)).status, 404)
          // The people who chatted with the agent are told that it is gone. The test does not wait for them.
          void talkers.end(1_000).catch(() => {})
          for (const table of ['chunks', 'generations', 'conversations', 'messages'] as const)
            await until(`the end of its ${table}`, async () => {
              const row = await database.db
                .selectFrom(table)
                .select('id')
                .where('agent_id', '=', large)
                .executeTakeFirst()
              return row === undefined
            })
        })
      } finally {
        await database.close()
      }
    }))
})

/** Inserts the rows that training would create, with one statement per table. */
async function fill(db: Db, { accountId }: FaultWorld): Promise<string> {
  const account = { id: accountId as AccountId, plan: 'unlimited' }
  const agent = await createAgent(db, account, 'faults', { name: 'Large' })
  await sql`insert into sources (id, account_id, agent_id, type, status, name, content, live_version)
    select gen_random_uuid(), ${accountId}, ${agent}, 'text', 'trained', 'Source ' || n, '{"text":""}', 1
      from generate_series(1, ${SOURCES}) as n`.execute(db)
  await sql`insert into chunks (id, account_id, agent_id, source_id, version, ordinal, heading_path, text, vector_key)
    select gen_random_uuid(), ${accountId}, ${agent}, sources.id, 1, n, '[]',
        repeat('Sentence ' || n || ' says what the source is about. ', 6), n::text
      from sources, generate_series(1, ${CHUNKS / SOURCES}) as n where sources.agent_id = ${agent}`.execute(
    db,
  )
  return agent
}
