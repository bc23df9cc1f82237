import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onPostgres } from '../../test/database.ts'
import { startService } from '../../test/start.ts'
import { waitingForLock } from '../../test/until.ts'
import { createContacts } from '../contacts/write-contacts.ts'
import { openConversation } from '../conversations/records/queries.ts'
import { mergeContacts } from './merge-contacts.ts'

test('a contact gets conversations while another is merged into it, without a deadlock', {
  skip: !onPostgres(),
}, async (t) => {
  const service = await startService({}, undefined, { idle: true })
  t.after(() => service.close())
  const { db } = service.ctx
  const client = await service.account()
  const agentId: string = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const ref = { accountId: client.accountId, agentId }
  const wanted = [{ external_id: 'from' }, { external_id: 'into' }]
  const [from, into] = await createContacts(db, ref, wanted, () => '')
  const open = { account_id: ref.accountId, agent_id: agentId, source: 'API', title: null, thread_id: null }
  const { id } = await db
    .transaction()
    .execute((trx) => openConversation(trx, { ...open, user_id: null, contact_id: from!.id }))
  const { merging } = await db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('conversations')
      .select('id')
      .where('account_id', '=', ref.accountId)
      .where('id', '=', id)
      .forNoKeyUpdate()
      .execute()
    const merging = mergeContacts(db, ref, from!.id, into!.id)
    await waitingForLock(db, 'conversations')
    await openConversation(trx, { ...open, user_id: null, contact_id: into!.id })
    return { merging }
  })
  assert.equal((await merging).external_id, 'into')
  const contacts = await db.selectFrom('conversations').select('contact_id').execute()
  assert.deepEqual(contacts, Array(2).fill({ contact_id: into!.id }))
})
