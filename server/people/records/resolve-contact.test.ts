import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../../test/start.ts'
import { createAgent } from '../../agents/records/create-agent.ts'
import { resolveContact } from './resolve-contact.ts'
import { createContacts } from './write-contacts.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

test('a person on a channel is found by number or address, or created once', async () => {
  const { db } = service.ctx
  const { accountId } = await service.account()
  const agentId = await createAgent(db, { id: accountId, plan: 'unlimited' }, 'test', { name: 'Agent' })
  const owner = { accountId, agentId }
  const resolve = (person: Parameters<typeof resolveContact>[2]) =>
    db.transaction().execute((trx) => resolveContact(trx, owner, person))
  await createContacts(
    db,
    owner,
    [{ external_id: 'ann', phonenumber: '+14155552671', email: 'Ann@Example.com' }],
    () => 'customAttributes',
  )
  assert.equal((await resolve({ phonenumber: '+1 415 555 2671' })).external_id, 'ann')
  assert.equal((await resolve({ email: 'ann@example.COM' })).external_id, 'ann')
  const made = await Promise.all(
    Array.from({ length: 5 }, () => resolve({ phonenumber: '+4930901820', name: 'Bob' })),
  )
  assert.equal(new Set(made.map(({ id }) => id)).size, 1)
  assert.deepEqual([made[0]?.external_id, made[0]?.name], ['+4930901820', 'Bob'])
})
