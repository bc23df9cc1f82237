import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../../test/start.ts'
import { memberOf } from '../../../test/workspace.ts'

let service: Service

before(async () => {
  service = await startService()
})
after(() => service.close())

test('an owner renames the account and a member; a member can only rename themselves', async () => {
  const { accountId } = await service.account({ name: 'Shop' })
  const owner = await memberOf(service, accountId, 'owner')
  const viewer = await memberOf(service, accountId, 'viewer')
  assert.equal((await viewer.request('PATCH', '/account', { name: 'Mine' })).status, 403)
  assert.equal((await viewer.request('PATCH', `/members/${owner.memberId}`, { name: 'X' })).status, 403)
  assert.equal((await owner.request('PATCH', '/account', { name: '  ' })).status, 400)
  assert.equal((await owner.request('PATCH', '/account', { name: ' Bright Lamps ' })).status, 200)
  assert.equal((await viewer.request('PATCH', '/me', { name: 'Vera' })).status, 200)
  const me = (await viewer.request('GET', '/me')).body
  assert.deepEqual([me.account.name, me.member.name], ['Bright Lamps', 'Vera'])
  const renamed = await owner.request('PATCH', `/members/${viewer.memberId}`, { name: 'Vera Lind' })
  assert.deepEqual([renamed.body.name, renamed.body.role], ['Vera Lind', 'viewer'])
  assert.equal((await viewer.request('GET', '/me')).body.member.name, 'Vera Lind')
  const { data } = (await owner.request('GET', '/audit-log')).body
  const actions = data.map(({ action }: { action: string }) => action)
  for (const action of ['account.rename', 'member.rename', 'member.update'])
    assert.ok(actions.includes(action))
})
