import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Client, type Service, startService } from '../../../test/start.ts'

let service: Service
let client: Client
let agentId: string

before(async () => {
  service = await startService()
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
})
after(() => service.close())

const must = async (method: string, path: string, body?: object) => {
  const answer = await client.request(method, `/agents/${agentId}${path}`, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
const setText = async (sourceText: string): Promise<void> => {
  const { status } = await client.request('POST', '/api/v1/update-chatbot-data', {
    chatbotId: agentId,
    sourceText,
    chatbotName: 'Lumi',
  })
  assert.equal(status, 200)
}
const texts = async (): Promise<unknown[]> => {
  const rows = await service.ctx.db
    .selectFrom('sources')
    .select('content')
    .where('agent_id', '=', agentId)
    .where('account_id', '=', client.accountId)
    .where('left_out', '=', false)
    .execute()
  return rows.map(({ content }) => content.text)
}
const publish = async (sources: object[]): Promise<void> => {
  await must('PUT', '/draft', { sources })
  const { version } = await must('GET', '/draft/changes')
  await must('POST', '/draft/publish', { version })
}
const rollBack = async (id: string): Promise<void> => {
  const { version } = await must('GET', `/versions/${id}`)
  await must('POST', `/versions/${id}/restore`, { version })
}
const only = async (): Promise<string> => (await must('GET', '/sources')).data[0].id

test('the text that version 1 replaces is the same one after a roll back and forth', async () => {
  await setText('One lamp.')
  const one = await only()
  await publish([{ id: one, isIncluded: false }])
  await setText('Two lamps.')
  assert.deepEqual(await texts(), ['Two lamps.'])
  const two = await only()
  const versions = (await must('GET', '/versions')).data
  await rollBack(versions.at(-1).id)
  assert.deepEqual(await texts(), ['One lamp.'])
  await setText('Three lamps.')
  assert.deepEqual(await texts(), ['Three lamps.'])
  assert.equal(await only(), one)
  // Where both are live, version 1 goes on with the one that was.
  await publish([{ id: two, isIncluded: true }])
  await setText('Four lamps.')
  assert.deepEqual((await texts()).sort(), ['Four lamps.', 'Two lamps.'])
})
