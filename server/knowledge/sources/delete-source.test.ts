import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained } from '../../../test/until.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(() => service.close())

/** Creates a source with far more chunks than are deleted at once. */
async function largeSource(marker: string): Promise<string> {
  const lines = Array.from(
    { length: 9_000 },
    (_, n) => `Line ${n} of the ${marker} says what the list is about.`,
  )
  const content = [`The password of the ${marker} is ${marker}-42.`, ...lines].join('\n\n')
  const source = { type: 'text', name: 'Text', content }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, source)).body
  await trained(service, id)
  return id
}

async function ask(marker: string): Promise<string> {
  const message = `What is the password of the ${marker}?`
  return JSON.stringify(
    (await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })).body,
  )
}

async function rowsOf(sourceId: string): Promise<number> {
  const rows = await service.ctx.db
    .selectFrom('chunks')
    .select('id')
    .where('source_id', '=', sourceId)
    .execute()
  return rows.length
}

test('a large source is deleted in steps, is not in the next answer, and leaves nothing behind', async () => {
  const id = await largeSource('quillfeather')
  assert.ok((await rowsOf(id)) > 500)
  assert.match(await ask('quillfeather'), /quillfeather-42/)
  const path = `/agents/${agentId}/sources/${id}`
  const { status, body } = await client.request('DELETE', path)
  assert.deepEqual([status, body.status, body.id, body.name], [200, 'deleted', id, 'Text'])
  assert.doesNotMatch(await ask('quillfeather'), /quillfeather-42/)
  assert.equal(await rowsOf(id), 0)
  assert.equal((await client.request('GET', path)).status, 404)
})
