import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { onPostgres } from '../../../test/database.ts'
import { type Client, clientOf, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

/** Creates an agent that knows one marker. */
async function agentWith(marker: string): Promise<{ agentId: string; sourceId: string }> {
  const agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  const source = { type: 'text', name: 'Text', content: `The password of the ${marker} is ${marker}-42.` }
  const sourceId = (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id
  await trained(service, sourceId)
  return { agentId, sourceId }
}

/** Returns the whole answer, including its passages. */
async function ask(asker: Client, agentId: string, marker: string): Promise<string> {
  const message = `What is the password of the ${marker}?`
  const { status, body } = await asker.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
  assert.equal(status, 200)
  return JSON.stringify(body)
}

test('a deleted source is not in the next answer', async () => {
  const { agentId, sourceId } = await agentWith('quillfeather')
  assert.match(await ask(client, agentId, 'quillfeather'), /quillfeather-42/)
  assert.equal((await client.request('DELETE', `/agents/${agentId}/sources/${sourceId}`)).status, 200)
  assert.doesNotMatch(await ask(client, agentId, 'quillfeather'), /quillfeather-42/)
})

test('a deleted source is not in the next answer of another process', {
  skip: !onPostgres() && 'needs PostgreSQL',
}, async () => {
  const other = await startService({}, service)
  const there = clientOf(other.url, client.key)
  for (const marker of ['brindlewick', 'copperlace', 'dapplewood']) {
    const { agentId, sourceId } = await agentWith(marker)
    assert.match(await ask(there, agentId, marker), new RegExp(`${marker}-42`))
    await client.request('DELETE', `/agents/${agentId}/sources/${sourceId}`)
    assert.doesNotMatch(await ask(there, agentId, marker), new RegExp(`${marker}-42`))
  }
  await other.close()
})
