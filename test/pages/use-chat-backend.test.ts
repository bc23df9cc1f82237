import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createParley } from '../../client/parley.ts'
import { V2 } from '../../server/platform/http/contract.ts'
import { startService } from '../start.ts'
import { createBackend } from './use-chat-backend.ts'

test('the backend of a chat page forwards only what the page needs, for its own user', async () => {
  const service = await startService()
  const client = await service.account()
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const other = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const settings = { url: `${service.url}${V2}`, key: client.key, agentId }
  const backend = createBackend(
    { ...settings, userOf: ({ headers }) => headers['x-user']?.toString() ?? null },
    async () => 'script',
  )
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`
  const pageOf = (user: string) =>
    createParley({ baseUrl: `${url}/parley`, headers: () => ({ 'x-user': user }) })

  const ada = pageOf('ada')
  let conversationId = ''
  let text = ''
  for await (const { event } of await ada.chat(agentId, { message: 'Hello?', userId: 'mallory' })) {
    if (event.type === 'text-delta') text += event.delta
    if (event.type === 'message-metadata') conversationId = event.messageMetadata.conversationId
    if (event.type === 'finish') assert.equal(event.messageMetadata.userId, 'ada')
  }
  const [question, answer] = (await ada.messages(agentId, conversationId)).data
  assert.deepEqual(question?.parts, [{ type: 'text', text: 'Hello?' }])
  assert.deepEqual(answer?.parts, [{ type: 'text', text }])
  assert.deepEqual(await ada.stop(agentId, conversationId), { stopped: false })
  assert.equal(await ada.reattach(agentId, conversationId), null)
  for await (const { event } of await ada.retry(agentId, conversationId, answer?.id ?? '')) {
    if (event.type === 'start') assert.notEqual(event.messageId, answer?.id)
  }
  await assert.rejects(ada.toolResult(agentId, conversationId, 'call-1', {}), {
    code: 'RESOURCE_TOOL_CALL_NOT_FOUND',
    status: 404,
  })

  const mallory = pageOf('mallory')
  for (const attempt of [
    () => mallory.messages(agentId, conversationId),
    () => mallory.stop(agentId, conversationId),
    () => mallory.chat(agentId, { message: 'Go on', conversationId }),
    () => ada.chat(other, { message: 'Hello' }),
    () => ada.messages(agentId, '../../..'),
    () => createParley({ baseUrl: `${url}/parley` }).chat(agentId, { message: 'Hello' }),
  ]) {
    await assert.rejects(attempt, { status: 404 })
  }
  for (const path of ['/agents', `/agents/${agentId}`, `/agents/${agentId}/conversations`, '/me']) {
    const response = await fetch(`${url}/parley${path}`, { headers: { 'x-user': 'ada' } })
    assert.equal(response.status, 404, path)
  }
  backend.closeAllConnections()
  backend.close()
  await service.close()
})

test('the guide contains the tested page and backend', async () => {
  const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')
  const guide = await read('../../docs/guide/use-chat.md')
  for (const file of ['use-chat-backend.ts', 'use-chat-page.tsx']) {
    const shown = (await read(file))
      .replaceAll('../../client/', './parley/')
      .replace(/^ *\/\/ biome-ignore.*\n/gm, '')
    assert.ok(guide.includes(shown), `docs/guide/use-chat.md differs from test/pages/${file}`)
  }
})
