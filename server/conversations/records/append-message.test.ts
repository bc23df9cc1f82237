import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../../test/database.ts'
import { createAccount } from '../../accounts/records/accounts.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { appendMessage } from './append-message.ts'
import type { ConversationRow } from './queries.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let conversation: ConversationRow

before(async () => {
  fresh = await freshDatabase()
  db = fresh.database.db
  const accountId = await createAccount(db, 'Own')
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Own' })
  conversation = await db
    .insertInto('conversations')
    .values({
      id: newId(),
      account_id: accountId,
      agent_id: agentId,
      source: 'Messaging',
      user_id: null,
      title: 'Hi',
      status: 'ongoing',
      updated_at: new Date(0),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
})
after(async () => {
  await fresh.database.close()
  await fresh.drop()
})

const said = () =>
  db
    .selectFrom('messages')
    .select(['id', 'seq', 'role', 'parts', 'metadata'])
    .where('conversation_id', '=', conversation.id)
    .orderBy('seq')
    .execute()

test('messages that are added concurrently get distinct positions', async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      transact(db, (trx) =>
        appendMessage(trx, conversation, {
          role: i === 0 ? 'assistant' : 'user',
          parts: [{ type: 'text', text: `Part ${i}` }],
          ...(i === 0 ? { metadata: { template: 'hello' } } : {}),
        }),
      ),
    ),
  )
  const rows = await said()
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  )
  assert.deepEqual(rows.map(({ id }) => id).sort(), ids.sort())
  const first = rows.find(({ role }) => role === 'assistant')
  assert.deepEqual(
    [first?.parts, first?.metadata],
    [[{ type: 'text', text: 'Part 0' }], { template: 'hello' }],
  )
  assert.ok(rows.every(({ role, metadata }) => role === 'assistant' || metadata === null))
  const { last_seq, updated_at } = await db
    .selectFrom('conversations')
    .select(['last_seq', 'updated_at'])
    .where('id', '=', conversation.id)
    .executeTakeFirstOrThrow()
  assert.equal(last_seq, 5)
  assert.ok(updated_at.getTime() > 0)
})

test('a conversation of another account does not exist', async () => {
  const before = await said()
  const foreign = { ...conversation, account_id: newId() as ConversationRow['account_id'] }
  await assert.rejects(
    transact(db, (trx) =>
      appendMessage(trx, foreign, { role: 'user', parts: [{ type: 'text', text: 'Hi' }] }),
    ),
  )
  assert.deepEqual(await said(), before)
})
