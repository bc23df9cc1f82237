import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onPostgres } from '../../../test/database.ts'
import { type Service, startService } from '../../../test/start.ts'
import { waitingForLock } from '../../../test/until.ts'
import { lockThread } from '../../channels/inbound/receive-message.ts'
import { openConversation } from '../../conversations/records/queries.ts'
import type { Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { createContacts } from '../records/write-contacts.ts'
import { mergeContacts } from './merge-contacts.ts'

let service: Service

before(async () => {
  service = await startService({}, undefined, { idle: true })
})
after(() => service.close())

/** Creates two contacts, a thread and a conversation of the first, and returns their ids. */
async function twoContacts() {
  const { db } = service.ctx
  const { accountId, request } = await service.account()
  const agentId: string = (await request('POST', '/agents', { name: 'Agent' })).body.id
  const ref = { accountId, agentId }
  const owner = { account_id: accountId, agent_id: agentId }
  const wanted = [{ external_id: 'from' }, { external_id: 'into' }]
  const [from, into] = (await createContacts(db, ref, wanted, () => '')).map(({ id }) => id)
  const thread = { channel: 'email' as const, connection: 'a@shop.example', peer: newId(), data: json({}) }
  const threadId = newId()
  await db
    .insertInto('channel_threads')
    .values({ id: threadId, ...owner, ...thread, contact_id: from! })
    .execute()
  const open = { ...owner, source: 'API', title: null, user_id: null }
  const openFor = (trx: Trx, contact_id: string, thread_id: string | null) =>
    openConversation(trx, { ...open, contact_id, thread_id })
  const { id: conversationId } = await db.transaction().execute((trx) => openFor(trx, from!, threadId))
  return { db, ref, from: from!, into: into!, threadId, conversationId, openFor }
}

const lockConversation = (trx: Trx, { accountId }: AgentRef, id: string) =>
  trx
    .selectFrom('conversations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .execute()

test('a contact gets a conversation while another is merged into it, without a deadlock', {
  skip: !onPostgres(),
}, async () => {
  const { db, ref, from, into, conversationId, openFor } = await twoContacts()
  const { merging } = await db.transaction().execute(async (trx) => {
    await lockConversation(trx, ref, conversationId)
    const merging = mergeContacts(db, ref, from, into)
    await waitingForLock(db, 'conversations')
    await openFor(trx, into, null)
    return { merging }
  })
  assert.equal((await merging).id, into)
  const owners = await db
    .selectFrom('conversations')
    .select('contact_id')
    .where('account_id', '=', ref.accountId)
    .execute()
  assert.deepEqual(owners, Array(2).fill({ contact_id: into }))
})

test('messages of a contact that is being merged are taken in without a deadlock', {
  skip: !onPostgres(),
}, async () => {
  const { db, ref, from, into, threadId, conversationId } = await twoContacts()
  const { merging } = await db.transaction().execute(async (trx) => {
    // Takes the locks in the order of processInbound.
    await lockThread(trx, ref.accountId, threadId)
    const merging = mergeContacts(db, ref, from, into)
    await waitingForLock(db, 'channel_threads')
    await lockConversation(trx, ref, conversationId)
    return { merging }
  })
  assert.equal((await merging).id, into)
})
