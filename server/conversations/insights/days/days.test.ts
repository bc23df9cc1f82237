import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { freshDatabase } from '../../../../test/database.ts'
import { createAccount } from '../../../accounts/records/accounts.ts'
import { createAgent } from '../../../agents/records/create-agent.ts'
import type { Db } from '../../../platform/db/database.ts'
import { newId } from '../../../platform/db/ids.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { migrate } from '../../../platform/db/upkeep/migrate.ts'
import { comparable, plainFigures } from '../analysis/for-tests.ts'
import { setTopics } from '../topics/assign-topics.ts'
import { addTopic, removeTopic } from '../topics/change-topics.ts'
import { mergeTopic } from '../topics/merge-topic.ts'
import { groupQuestions } from '../unanswered/group-questions.ts'
import { readInsights } from './read-insights.ts'
import { refreshDays } from './refresh-days.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let accountId: AccountId
const noVectors = new Map()

before(async () => {
  fresh = await freshDatabase()
  db = fresh.database.db
  await migrate(db)
  accountId = await createAccount(db, 'Figures')
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

const DAYS = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02']
const FIRST = Date.parse('2026-02-27T00:00:00.000Z')
const DAY_MS = 86_400_000
/** Includes the first and the last millisecond of a day. */
const moment = fc.oneof(
  fc.nat(4 * DAY_MS - 1),
  fc.tuple(fc.nat(3), fc.constantFrom(0, DAY_MS - 1)).map(([day, at]) => day * DAY_MS + at),
)

type World = { agentId: string; topics: string[]; conversations: string[]; messages: string[] }
type Change = (world: World) => Promise<unknown>

const timeOf = (at: number) => new Date(FIRST + at)
const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]
const sentiment = fc.constantFrom('positive', 'neutral', 'negative', null)
const status = fc.constantFrom('ongoing', 'ended', 'taken_over', 'paused')

const begin = fc
  .record({
    at: moment,
    status,
    source: fc.constantFrom('API', 'Email'),
    country: fc.constantFrom('DE', 'AT', null),
  })
  .map(
    ({ at, ...row }): Change =>
      async (world) => {
        const id = newId()
        const own = { id, account_id: accountId, agent_id: world.agentId }
        await db
          .insertInto('conversations')
          .values({ ...own, ...row, created_at: timeOf(at) })
          .execute()
        world.conversations.push(id)
      },
  )

const say = fc
  .record({
    at: moment,
    of: fc.nat(),
    role: fc.constantFrom('user', 'assistant'),
    person: fc.boolean(),
    outcome: fc.constantFrom(
      'answered',
      'closest',
      'partly',
      'not_found',
      'declined',
      'handed_over',
      'refused',
      null,
    ),
    mark: fc.constantFrom(
      {},
      { ungrounded: [{ kind: 'number', text: '7' }] },
      { isHeld: true },
      { forbiddenTopic: 'Law' },
      { forbiddenTopic: 'Other shops' },
    ),
  })
  .map(
    ({ at, of, role, person, outcome, mark }): Change =>
      async (world) => {
        const conversationId = pick(world.conversations, of)
        if (!conversationId) return
        const id = newId()
        const { last_seq: seq } = await db
          .updateTable('conversations')
          .set((eb) => ({ last_seq: eb('last_seq', '+', 1), updated_at: timeOf(at) }))
          .where('id', '=', conversationId)
          .returning('last_seq')
          .executeTakeFirstOrThrow()
        const own = { id, account_id: accountId, agent_id: world.agentId, conversation_id: conversationId }
        const metadata = person
          ? json({ author: { type: 'human_agent', name: 'Ann' } })
          : json({ score: 0.1, outcome, ...mark })
        const message = {
          seq,
          role,
          parts: json([{ type: 'text', text: 'x' }]),
          metadata,
          created_at: timeOf(at),
        }
        await db
          .insertInto('messages')
          .values({ ...own, ...message })
          .execute()
        world.messages.push(id)
      },
  )

const rate = fc.record({ of: fc.nat(), feedback: fc.constantFrom('positive', 'negative', null) }).map(
  ({ of, feedback }): Change =>
    async ({ messages }) => {
      const id = pick(messages, of)
      if (id) await db.updateTable('messages').set({ feedback }).where('id', '=', id).execute()
    },
)

const look = fc.record({ of: fc.nat(), sentiment, topics: fc.subarray([0, 1]) }).map(
  ({ of, sentiment: felt, topics }): Change =>
    async (world) => {
      const id = pick(world.conversations, of)
      if (!id) return
      const done = { sentiment: felt, analysis_due: null, analysed_at: new Date() }
      await db.updateTable('conversations').set(done).where('id', '=', id).execute()
      const ids = topics.flatMap((n) => world.topics[n] ?? [])
      await db
        .transaction()
        .execute((trx) => setTopics(trx, { accountId, agentId: world.agentId, conversationId: id }, ids))
    },
)

const wonder = fc.record({ of: fc.nat(), question: fc.constantFrom('Parking?', 'Gift cards?', null) }).map(
  ({ of, question }): Change =>
    async (world) => {
      const messageId = pick(world.messages, of)
      const row = await db
        .selectFrom('messages')
        .select(['conversation_id', 'created_at'])
        .where('id', '=', messageId ?? newId())
        .executeTakeFirst()
      if (!messageId || !row) return
      const place = { accountId, agentId: world.agentId, conversationId: row.conversation_id }
      const found = { messageId, question: question ?? '', suggestedAnswer: null, askedAt: row.created_at }
      await db.transaction().execute((trx) => groupQuestions(trx, noVectors, place, question ? [found] : []))
    },
)

const escalate = fc.nat().map(
  (of): Change =>
    async (world) => {
      const conversationId = pick(world.conversations, of)
      const known = await db
        .selectFrom('tickets')
        .select('id')
        .where('agent_id', '=', world.agentId)
        .execute()
      const ticket = {
        number: known.length + 1,
        status_category: 'closed' as const,
        channel: 'api',
        customer: json({}),
      }
      const own = { id: newId(), account_id: accountId, agent_id: world.agentId }
      if (conversationId)
        await db
          .insertInto('tickets')
          .values({ ...own, ...ticket, conversation_id: conversationId, metadata: json({}) })
          .execute()
    },
)

const setStatus = fc.record({ of: fc.nat(), status }).map(
  ({ of, status: now }): Change =>
    async (world) => {
      const id = pick(world.conversations, of)
      if (id) await db.updateTable('conversations').set({ status: now }).where('id', '=', id).execute()
    },
)

const drop = fc.nat().map(
  (of): Change =>
    async (world) => {
      const id = pick(world.conversations, of)
      await db
        .deleteFrom('conversations')
        .where('id', '=', id ?? newId())
        .execute()
      world.conversations = world.conversations.filter((other) => other !== id)
    },
)

const cut = fc.nat().map(
  (of): Change =>
    async ({ messages }) => {
      await db
        .deleteFrom('messages')
        .where('id', '=', pick(messages, of) ?? newId())
        .execute()
    },
)

const spend = fc
  .record({ at: moment, amount: fc.nat(9), state: fc.constantFrom('reserved', 'settled', 'released') })
  .map(
    ({ at, amount, state }): Change =>
      async ({ agentId }) => {
        const entry = {
          id: newId(),
          account_id: accountId,
          agent_id: agentId,
          generation_id: newId(),
          month: '2026-02',
        }
        await db
          .insertInto('credit_entries')
          .values({ ...entry, kind: 'usage', state: 'reserved', amount, created_at: timeOf(at) })
          .execute()
        await db.updateTable('credit_entries').set({ state }).where('id', '=', entry.id).execute()
      },
  )

const changeTopics = fc.constantFrom('merge', 'delete').map(
  (what): Change =>
    async (world) => {
      const [first = '', second = ''] = world.topics
      const place = { accountId, agentId: world.agentId }
      if (world.topics.length < 2) return
      if (what === 'merge') await mergeTopic(db, place, first, second)
      else await removeTopic(db, place, first)
      world.topics.shift()
    },
)

const refresh = fc.constant<Change>(() => refreshDays(db, { impatient: true }))

const change = fc.oneof(
  { weight: 5, arbitrary: begin },
  { weight: 8, arbitrary: say },
  { weight: 3, arbitrary: rate },
  { weight: 5, arbitrary: look },
  { weight: 3, arbitrary: wonder },
  { weight: 1, arbitrary: escalate },
  { weight: 2, arbitrary: setStatus },
  { weight: 1, arbitrary: drop },
  { weight: 1, arbitrary: cut },
  { weight: 2, arbitrary: spend },
  { weight: 1, arbitrary: changeTopics },
  { weight: 2, arbitrary: refresh },
)

test('after any changes in any order, the figures match the simplest count', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 20, maxLength: 60 }), async (changes) => {
      const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'A' })
      const place = { accountId, agentId }
      const topics = [
        await addTopic(db, place, { name: 'Parking' }),
        await addTopic(db, place, { name: 'Gifts' }),
      ]
      const world: World = { agentId, topics: topics.map(({ id }) => id), conversations: [], messages: [] }
      for (const make of changes) await make(world)
      await refreshDays(db, { impatient: true })
      const shown = await readInsights(db, { accountId, agentId }, DAYS)
      const plain = await plainFigures(db, agentId, DAYS)
      assert.deepEqual(comparable(shown.totals), plain.totals)
      assert.deepEqual(shown.days.map(comparable), plain.days)
      assert.equal(shown.isCurrent, true)
      const groups = await db
        .selectFrom('unanswered_groups as g')
        .leftJoin('unanswered_questions as q', 'q.group_id', 'g.id')
        .where('g.agent_id', '=', agentId)
        .groupBy(['g.id', 'g.count'])
        .select((eb) => ['g.count', eb.fn.count<number>('q.message_id').as('n')])
        .execute()
      for (const { count, n } of groups) assert.ok(count === n && n > 0)
    }),
    { numRuns: 25 },
  )
})

test('a busy day is computed again only after a pause, and is marked as stale until then', async () => {
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'B' })
  const world: World = { agentId, topics: [], conversations: [], messages: [] }
  const add = () =>
    db
      .insertInto('conversations')
      .values({
        id: newId(),
        account_id: accountId,
        agent_id: agentId,
        source: 'API',
        status: 'ongoing',
        created_at: timeOf(0),
      })
      .execute()
  await add()
  assert.equal(await refreshDays(db), 1)
  await add()
  assert.equal(await refreshDays(db), 0, 'too early')
  const stale = await readInsights(db, { accountId, agentId: world.agentId }, DAYS)
  assert.deepEqual([stale.isCurrent, stale.totals.conversations], [false, 1])
  assert.equal(await refreshDays(db, { impatient: true }), 1)
  const current = await readInsights(db, { accountId, agentId }, DAYS)
  assert.deepEqual(
    [current.isCurrent, current.totals.conversations, current.totals.deflection],
    [true, 2, null],
  )
})

test('concurrent processes count nothing twice and miss nothing', async () => {
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'C' })
  const world: World = { agentId, topics: [], conversations: [], messages: [] }
  const conversations = fc.sample(begin, 40)
  let over = false
  const keep = async () => {
    while (!over) await refreshDays(db, { impatient: true })
  }
  const keepers = [keep(), keep(), keep()]
  await Promise.all(conversations.map((make) => make(world)))
  await Promise.all(fc.sample(say, 80).map((make) => make(world)))
  await Promise.all(fc.sample(setStatus, 40).map((make) => make(world)))
  over = true
  await Promise.all(keepers)
  await refreshDays(db, { impatient: true })
  const shown = await readInsights(db, { accountId, agentId }, DAYS)
  const plain = await plainFigures(db, agentId, DAYS)
  assert.deepEqual(comparable(shown.totals), plain.totals)
})

test('the figures of a deleted agent are deleted', async () => {
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'D' })
  const world: World = { agentId, topics: [], conversations: [], messages: [] }
  for (const make of [...fc.sample(begin, 5), ...fc.sample(say, 10)]) await make(world)
  await refreshDays(db, { impatient: true })
  for (const make of fc.sample(say, 5)) await make(world)
  await db.deleteFrom('agent_ids').where('id', '=', agentId).execute()
  for (const table of ['insights_queue', 'insight_days'] as const)
    assert.deepEqual(
      await db.selectFrom(table).select('agent_id').where('agent_id', '=', agentId).execute(),
      [],
    )
  assert.equal(await refreshDays(db, { impatient: true }), 0)
})
