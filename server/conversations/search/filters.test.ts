import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { freshDatabase } from '../../../test/database.ts'
import { type Filter, filters, NOW, pairs, type Sample, samples } from '../../../test/random-conversations.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { createIndexer } from './index/index-conversations.ts'
import { readFilters } from './query/read-filters.ts'
import { createSearch } from './query/search-conversations.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let accountId: AccountId
const usual = createSearch()
/** Processes a few days at a time, as a search among a million conversations does. */
const hasty = createSearch({ firstSpan: 3, enough: 3, patience: 0 })
const indexer = createIndexer()

before(async () => {
  fresh = await freshDatabase()
  await migrate(fresh.database.db)
  accountId = await createAccount(fresh.database.db, 'Search')
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

type Stored = Sample & { id: string }

async function store(agentId: string, sample: Sample): Promise<Stored> {
  const { db } = fresh.database
  const id = newId()
  const own = { account_id: accountId, agent_id: agentId, conversation_id: id }
  await db
    .insertInto('conversations')
    .values({
      id,
      account_id: accountId,
      agent_id: agentId,
      source: sample.source,
      user_id: sample.userId,
      title: sample.title,
      status: sample.status,
      sentiment: sample.sentiment,
      has_voice: sample.hasVoice,
      created_at: sample.createdAt,
      updated_at: sample.updatedAt,
      last_seq: sample.messages.length,
    })
    .execute()
  for (const [i, { text, feedback }] of sample.messages.entries()) {
    const parts = json([{ type: 'text', text }])
    const message = { id: newId(), ...own, seq: i + 1, role: 'assistant' as const, parts, feedback }
    await db.insertInto('messages').values(message).execute()
  }
  for (const call of sample.calls) {
    const made = { message_id: newId(), generation_id: newId(), input: json({}) }
    await db
      .insertInto('tool_calls')
      .values({ id: newId(), ...own, ...made, ...call })
      .execute()
  }
  for (const run of sample.runs)
    await db
      .insertInto('procedure_runs')
      .values({ id: newId(), ...own, ...run })
      .execute()
  for (const name of sample.topics)
    await db
      .insertInto('conversation_topics')
      .values({ ...own, name })
      .execute()
  if (sample.escalated) await openTicket(own)
  return { ...sample, id }
}

let tickets = 0
async function openTicket(own: { account_id: AccountId; agent_id: string; conversation_id: string }) {
  tickets++
  const ticket = { number: tickets, status_category: 'closed' as const, channel: 'api', customer: json({}) }
  await fresh.database.db
    .insertInto('tickets')
    .values({ id: newId(), ...own, ...ticket, metadata: json({}) })
    .execute()
}

async function found(
  agentId: string,
  { parameters }: Filter,
  limit: number,
  search = usual,
): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const asked = { ...parameters, limit, ...(cursor ? { cursor } : {}) }
    const page = await search(fresh.database.db, accountId, readFilters(agentId, asked, NOW), asked)
    assert.ok(page.data.length <= limit)
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.pagination.cursor ?? undefined
    assert.equal(page.pagination.hasMore, cursor !== undefined)
  } while (cursor)
  return ids
}

const byActivity = (a: Stored, b: Stored): number =>
  b.updatedAt.getTime() - a.updatedAt.getTime() || (a.id < b.id ? 1 : -1)

test('each filter and each pair of filters matches the simplest implementation, page by page', async () => {
  const { db } = fresh.database
  await fc.assert(
    fc.asyncProperty(samples, fc.integer({ min: 4, max: 25 }), async (made, limit) => {
      const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'A' })
      const stored: Stored[] = []
      for (const sample of made) stored.push(await store(agentId, sample))
      await indexer.run(db)
      const first = new Date('2025-11-01T00:00:00.000Z')
      for (const filter of [{ parameters: {}, keeps: () => true }, ...filters, ...pairs]) {
        const expected = stored.filter((sample) => sample.createdAt >= first && filter.keeps(sample))
        const ids = await found(agentId, filter, limit)
        const name = JSON.stringify(filter.parameters)
        if ('query' in filter.parameters) {
          const all = expected.map(({ id }) => id).sort()
          assert.deepEqual(ids.toSorted(), all, name)
          assert.deepEqual((await found(agentId, filter, limit, hasty)).sort(), all, name)
        } else
          assert.deepEqual(
            ids,
            expected.sort(byActivity).map(({ id }) => id),
            name,
          )
      }
    }),
    { numRuns: 2, seed: 20261121, endOnFailure: true },
  )
})
