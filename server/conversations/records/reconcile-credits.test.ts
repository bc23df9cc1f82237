import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { reconcile } from '../records/reconcile-credits.ts'

let service: Service
let client: Client
let agent: string

before(async () => {
  service = await startService()
  client = await service.account()
  agent = (await client.request('POST', '/agents', { name: 'A' })).body.id
  for (let turn = 0; turn < 3; turn++) {
    const { status } = await client.request('POST', `/agents/${agent}/chat`, { message: 'Hi', stream: false })
    assert.equal(status, 200)
  }
})
after(() => service.close())

/** Returns the findings of reconcile after a change that is then undone. */
async function afterChange(change: ReturnType<typeof sql>) {
  const { db } = service.ctx
  const trx = await db.startTransaction().execute()
  await change.execute(trx)
  const balance = await reconcile(trx)
  await trx.rollback().execute()
  return balance
}

test('the ledger balances after chats and after an agent is deleted', async () => {
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
  assert.equal((await afterChange(sql`delete from agents where id = ${agent}`)).balanced, true)
})

test('a lost message, a lost entry and a wrong counter are each detected', async () => {
  const cost = (await client.request('GET', '/me')).body.credits.used / 3
  assert.ok(cost > 0)
  const one = sql`(select id from messages where role = 'assistant' limit 1)`
  assert.deepEqual(await afterChange(sql`delete from messages where id = ${one}`), {
    balanced: false,
    difference: cost,
  })
  const entry = sql`(select id from credit_entries limit 1)`
  // The message's cost has no entry, and the counters of both the account and the agent are too high.
  assert.equal((await afterChange(sql`delete from credit_entries where id = ${entry}`)).difference, 3 * cost)
  assert.equal(
    (
      await afterChange(sql`update credit_usage set used = used + 5 where ctid =
      (select ctid from credit_usage where owner_id = ${agent} limit 1)`)
    ).difference,
    5,
  )
  assert.deepEqual(await reconcile(service.ctx.db), { balanced: true, difference: 0 })
})
