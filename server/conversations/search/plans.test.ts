import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addManyConversations, wordOf } from '../../../bench/many-conversations.ts'
import { freshDatabase } from '../../../test/database.ts'
import { plansOf } from '../../../test/plans-of.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { migrate } from '../../platform/db/upkeep/migrate.ts'
import { conversationsToExport, messagesAfter, messagesToExport } from '../exports/queries.ts'
import {
  conversationsByCreation,
  conversationsOfUser,
  conversationTotal,
  sourcesOf,
} from '../records/conversation-lists.ts'
import { messagesBackwards } from '../records/queries.ts'
import { readFilters } from './query/read-filters.ts'
import { createSearch } from './query/search-conversations.ts'

/** Most rows belong to other accounts, as they do where the plan matters. */
const OTHERS = 10_000
const OWN = 1_500

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let accountId: AccountId
let agentId: string
const search = createSearch()

before(async () => {
  fresh = await freshDatabase()
  const { db } = fresh.database
  await migrate(db)
  accountId = await createAccount(db, 'Many')
  agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Many' })
  const other = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Other' })
  await addManyConversations(db, { accountId, agentId: other }, OTHERS)
  await addManyConversations(db, { accountId, agentId }, OWN)
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

const when = (day: string) => new Date(`${day}T10:00:00.000Z`)
const now = new Date()
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000)
const dayText = (days: number) => daysAgo(days).toISOString().slice(0, 10)
const position = () => ({ value: daysAgo(100).toISOString(), id: '01980000-0000-7000-8000-000000000000' })

test('no list, export or search scans a whole table of conversations', async () => {
  const { db } = fresh.database
  const own = { agentId, from: null, until: null }
  const page = { limit: 20, position: null }
  const some = await conversationsByCreation(db, accountId, own, page)
  const ids = some.rows.map(({ id }) => id)
  const work: Record<string, (db: Db) => Promise<unknown>> = {
    list: (on) => conversationsByCreation(on, accountId, own, page),
    'list of days': (on) =>
      conversationsByCreation(
        on,
        accountId,
        { agentId, from: daysAgo(50), until: daysAgo(20) },
        { limit: 20, position: position() },
      ),
    'list of a user': (on) =>
      conversationsOfUser(on, accountId, { agentId, userId: 'user-42' }, { limit: 20, position: position() }),
    'messages of a conversation': (on) =>
      messagesBackwards(on, accountId, ids[0] as string, { limit: 20, beforeSeq: 4 }),
    totals: (on) =>
      conversationTotal(on, accountId, {
        agentId,
        sources: ['API', 'Email'],
        from: when('2026-01-02'),
        until: now,
      }),
    sources: (on) => sourcesOf(on, { accountId, agentId }),
    export: (on) =>
      conversationsToExport(on, accountId, { ...own, sources: null }, { limit: 20, position: position() }),
    'messages of an export': (on) => messagesToExport(on, accountId, ids),
    'messages of a file': (on) => messagesAfter(on, accountId, ids[0] as string, { afterSeq: 1, limit: 100 }),
  }
  const searches: Record<string, string>[] = [
    {},
    { source: 'Phone' },
    { sentiment: 'negative,unspecified' },
    { topic: 'topic-8' },
    { userId: 'user-42,user-3' },
    { activityState: 'ongoing' },
    { feedback: 'negative' },
    { escalated: 'true' },
    { actionType: 'http' },
    { tool: 'refund', toolOutcome: 'error' },
    { procedure: 'Refund', procedureOutcome: 'failed' },
    { hasVoice: 'true' },
    { startDate: dayText(200), endDate: dayText(150) },
    { updatedAfter: dayText(200), updatedBefore: dayText(150) },
    { query: wordOf(9) },
    { query: `${wordOf(70)} ${wordOf(400).slice(0, 3)}` },
    { query: `"${wordOf(3)} ${wordOf(9)}"`, tool: 'refund' },
  ]
  for (const parameters of searches) {
    work[JSON.stringify(parameters)] = (on) =>
      search(on, accountId, readFilters(agentId, { ...parameters, limit: 25 }, now), {
        ...parameters,
        limit: 25,
      })
  }
  for (const [name, run] of Object.entries(work)) {
    for (const plan of await plansOf(db, run))
      assert.doesNotMatch(plan, /Seq Scan on (conversations|messages|conversation_search|tool_calls)\b/, name)
  }
})
