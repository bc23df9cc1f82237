import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { CompiledQuery, sql } from 'kysely'
import { addManyConversations } from '../../../bench/many-conversations.ts'
import { freshDatabase } from '../../../test/database.ts'
import { plansOf, recordQueries } from '../../../test/plans-of.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { claimConversations, hastenFirst } from './analysis/claim-conversations.ts'
import { loadConversation } from './analysis/load-conversation.ts'
import { computeDay } from './days/compute-day.ts'
import { refreshDays } from './days/refresh-days.ts'
import { setTopics } from './topics/assign-topics.ts'
import { mergeTopic } from './topics/merge-topic.ts'
import { keepCandidate } from './topics/promote-candidates.ts'
import { proposedLabels } from './topics/proposed-labels.ts'
import { topicsOf, topicsOfConversation } from './topics/queries.ts'
import { groupQuestions } from './unanswered/group-questions.ts'
import { listGroupRows, presentGroups } from './unanswered/queries.ts'
import { recountGroups } from './unanswered/recount-groups.ts'

/** Most rows belong to other accounts, as they do where the plan matters. */
const OTHERS = 4_000
const OWN = 400

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let accountId: AccountId
let agentId: string

before(async () => {
  fresh = await freshDatabase()
  db = fresh.database.db
  await migrate(db)
  accountId = await createAccount(db, 'Many')
  agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Many' })
  const other = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Other' })
  await addManyConversations(db, { accountId, agentId: other }, OTHERS)
  await addManyConversations(db, { accountId, agentId }, OWN)
  await sql`update conversations set analysis_due = null`.execute(db)
  await sql`insert into credit_entries (id, account_id, agent_id, generation_id, kind, state, amount, month, created_at)
    select gen_random_uuid(), account_id, agent_id, gen_random_uuid(), 'usage', 'settled', 1, '2026-01', created_at
    from conversations`.execute(db)
  await sql`insert into topics (id, account_id, agent_id, name, key, description, origin)
    select gen_random_uuid(), ${accountId}, agent_id, name, name, '', 'manual'
    from (select distinct agent_id, name from conversation_topics) as given`.execute(db)
  await sql`update conversation_topics set topic_id = topics.id from topics
    where topics.agent_id = conversation_topics.agent_id and topics.name = conversation_topics.name`.execute(
    db,
  )
  await sql`insert into topic_candidates (conversation_id, key, account_id, agent_id, label, origin)
    select id, 'key ' || row_number() over () / 2, account_id, agent_id, 'Key', 'model' from conversations`.execute(
    db,
  )
  await sql`insert into unanswered_groups (id, account_id, agent_id, question, key, count, last_asked_at)
    select gen_random_uuid(), account_id, agent_id, 'q' || id, 'q' || id, 2, created_at from conversations`.execute(
    db,
  )
  await sql`insert into unanswered_questions (message_id, account_id, agent_id, conversation_id, group_id, question, asked_at)
    select m.id, g.account_id, g.agent_id, m.conversation_id, g.id, 'q', m.created_at
    from unanswered_groups g join messages m on 'q' || m.conversation_id = g.key and m.seq in (2, 4)`.execute(
    db,
  )
  await refreshDays(db, { impatient: true })
  for (const table of ['conversations', 'credit_entries', 'conversation_topics', 'topic_candidates'] as const)
    await sql`vacuum analyze ${sql.table(table)}`.execute(db)
  for (const table of ['unanswered_groups', 'unanswered_questions', 'insight_days', 'topics'] as const)
    await sql`vacuum analyze ${sql.table(table)}`.execute(db)
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

const TABLES =
  'conversations|messages|conversation_topics|topic_candidates|unanswered_groups|unanswered_questions|credit_entries'

test('no query scans a whole table of conversations', async () => {
  const { id } = await db
    .selectFrom('conversations')
    .select('id')
    .where('agent_id', '=', agentId)
    .limit(1)
    .executeTakeFirstOrThrow()
  const place = { accountId, agentId, conversationId: id }
  const day = new Date(Date.now() - 50 * 86_400_000).toISOString().slice(0, 10)
  const group = { agentId, status: 'open' as const }
  const { rows } = await listGroupRows(db, accountId, group, { limit: 5, position: null })
  const message = await db
    .selectFrom('messages')
    .select('id')
    .where('conversation_id', '=', id)
    .where('seq', '=', 1)
    .executeTakeFirstOrThrow()
  const question = { messageId: message.id, question: 'Anew?', suggestedAnswer: null, askedAt: new Date() }
  const candidate = { key: 'key 7', label: 'Key' }
  const vectors = new Map([['Anew?', Float32Array.of(1)]])
  const inside = (work: (trx: Trx) => Promise<unknown>) => (on: Db) => on.transaction().execute(work)
  const work: Record<string, (on: Db) => Promise<unknown>> = {
    claim: (on) => claimConversations({ db: on, jobs: { enqueue: async () => {} } as never }),
    load: (on) => loadConversation(on, { id, held: new Date().toISOString() }),
    'a day': inside((trx) => computeDay(trx, { accountId, agentId }, day)),
    topics: inside((trx) => setTopics(trx, { accountId, agentId, conversationId: id }, [newId()])),
    'topics of a conversation': (on) => topicsOfConversation(on, accountId, id),
    candidates: inside((trx) => keepCandidate(trx, place, candidate)),
    proposed: (on) => proposedLabels(on, { accountId, agentId }),
    grouping: inside((trx) => groupQuestions(trx, vectors, place, [question])),
    recount: inside((trx) => recountGroups(trx, { accountId, agentId }, [rows[0]?.id ?? ''])),
    groups: (on) => listGroupRows(on, accountId, group, { limit: 5, position: { value: '2', id: newId() } }),
    'their examples': (on) => presentGroups(on, accountId, rows),
  }
  const [first, second] = await topicsOf(db, { accountId, agentId })
  work.merge = (on) => mergeTopic(on, place, first?.id ?? '', second?.id ?? '')
  const slow = new RegExp(`Seq Scan on (${TABLES})\\b`)
  for (const [name, run] of Object.entries(work))
    for (const plan of await plansOf(db, run)) assert.doesNotMatch(plan, slow, name)
})

test('the first conversations of an agent are looked for once for the agent, not for each conversation', async () => {
  await sql`update conversations set analysed_at = now() where agent_id = ${agentId}`.execute(db)
  const inHalfAnHour = sql<Date>`now() + interval '29 minutes'`
  await db
    .updateTable('conversations')
    .set({ analysis_due: inHalfAnHour })
    .where('agent_id', '=', agentId)
    .execute()
  const recorded = recordQueries(db)
  await hastenFirst({ db: recorded.db, jobs: { enqueue: async () => {} } as never })
  const [first] = recorded.queries
  assert.ok(first)
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': string }>(
    CompiledQuery.raw(`explain (analyze, timing off) ${first.sql}`, [...first.parameters]),
  )
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  const loops = [...plan.matchAll(/ on conversations\b.*loops=(\d+)/g)].map(([, times]) => Number(times))
  assert.ok(loops.length > 0 && Math.max(...loops) < OWN / 2, plan)
})
