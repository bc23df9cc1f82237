import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newKey } from '../new-key.ts'
import { newHome, spawnService } from '../spawn-service.ts'
import { clientOf } from '../start.ts'

test('an interrupted deletion continues at the next start, and the data is in no answer meanwhile', async () => {
  const home = await newHome()
  const key = await newKey(home)
  let service = await spawnService(home.env)
  let client = clientOf(service.url, key)
  const agent = (await client.request('POST', '/agents', { name: 'A' })).body.id
  const lines = Array.from({ length: 120_000 }, (_, n) => `Line ${n} says what the list is about.`)
  const content = ['The password of the harrowgate is harrowgate-42.', ...lines].join('\n\n')
  const form = new FormData()
  form.set('name', 'List')
  form.set('file', new Blob([content]), 'list.txt')
  const response = await client.raw('POST', `/agents/${agent}/sources`, { body: form })
  const made = (await response.json()) as { id: string }
  const path = `/agents/${agent}/sources/${made.id}`
  const status = async () => (await client.request('GET', path)).body.status
  while ((await status()) !== 'trained') await wait(250)

  const deleting = client.request('DELETE', path).catch(() => null)
  while ((await status()) === 'trained') await wait(1)
  await service.kill('SIGKILL')
  assert.equal(await deleting, null, 'it was done before the kill')

  service = await spawnService(home.env)
  client = clientOf(service.url, key)
  const message = 'What is the password of the harrowgate?'
  const answer = await client.request('POST', `/agents/${agent}/chat`, { message, stream: false })
  assert.doesNotMatch(JSON.stringify(answer.body), /harrowgate-42/)
  for (let shown = await status(); shown !== undefined; shown = await status()) {
    assert.equal(shown, 'toBeDeleted')
    await wait(100)
  }
  assert.equal((await client.request('GET', path)).status, 404)
  await service.kill('SIGKILL')
  await home.remove()
})
