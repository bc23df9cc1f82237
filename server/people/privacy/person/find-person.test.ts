import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { erased } from '../../../../test/full-life.ts'
import { type Service, startService } from '../../../../test/start.ts'
import { newId } from '../../../platform/db/ids.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

async function world() {
  const client = await service.account()
  return { client, agentId: (await client.request('POST', '/agents', { name: 'Agent' })).body.id as string }
}

test('identifiers are resolved through contacts; a shared address identifies nobody', async () => {
  const { client, agentId } = await world()
  const users = [
    { external_id: 'ann', email: 'ann@example.com', phonenumber: '+493012345678' },
    { external_id: 'bob', email: 'office@example.com' },
    { external_id: 'cem', email: 'office@example.com' },
  ]
  await client.request('POST', `/api/v1/chatbots/${agentId}/contacts`, { users })
  const second = (await client.request('POST', '/agents', { name: 'Second' })).body.id
  const elsewhere = [{ external_id: 'ann-2', email: 'ANN@example.com' }]
  await client.request('POST', `/api/v1/chatbots/${second}/contacts`, { users: elsewhere })
  const left = async () => {
    const rows = await service.ctx.db
      .selectFrom('contacts')
      .select('external_id')
      .where('account_id', '=', client.accountId)
      .orderBy('external_id')
      .execute()
    return rows.map(({ external_id }) => external_id)
  }
  await erased(client, { userId: 'bob' })
  assert.deepEqual(await left(), ['ann', 'ann-2', 'cem'])
  await erased(client, { phone: '+49 30 12345678' })
  assert.deepEqual(await left(), ['cem'])
  const { id } = await service.ctx.db
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', client.accountId)
    .executeTakeFirstOrThrow()
  const foreign = await service.account()
  for (const [owner, contactId] of [
    [foreign, id],
    [client, newId()],
    [client, 'no-id'],
  ] as const) {
    const answer = await owner.request('POST', '/users/erase', { contactId })
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  }
  await erased(client, { contactId: id })
  assert.deepEqual(await left(), [])
  for (const body of [{}, { userId: 'a', email: 'a@b' }]) {
    const answer = await client.request('POST', '/users/erase', body)
    assert.match(answer.body.error.details.userId, /exactly one/)
  }
})
