import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'
import { usageExport } from '../../admin/commands/account-commands.ts'
import { lookNow } from '../insights/analysis/for-tests.ts'

let models: ModelServer
let folder: string
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  folder = await mkdtemp(join(tmpdir(), 'side-calls-'))
  const file = join(folder, 'models.json')
  const baseUrl = `${models.url}/v1`
  const own = { provider: 'openai-compatible', baseUrl, prices: { input: 2, output: 10 } }
  const catalogue = {
    small: 'small',
    models: [
      { ...own, id: 'large' },
      { ...own, id: 'small', understanding: true },
    ],
    embedding: { name: 'vectors', baseUrl, price: 1 },
  }
  await writeFile(file, JSON.stringify(catalogue))
  service = await startService({ MODELS_FILE: file, ALLOWED_PRIVATE_HOSTS: '127.0.0.1' })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi, "the lamp"' })).body.id
  const usage: [number, number] = [1_000, 100]
  models.otherwise(({ body }) => {
    const asked = JSON.stringify(body)
    if (asked.includes('Read the last message'))
      return { tokens: ['{"kind":"question","queries":["weight of the ladder"],"language":"en"}'], usage }
    if (asked.includes('Classify one finished conversation'))
      return { tokens: ['{"sentiment":"neutral","topics":[],"newTopic":null,"unanswered":[]}'], usage }
    return { tokens: ['It weighs two kilograms [1].'], usage }
  })
})
after(async () => {
  await service.close()
  await models.close()
  await rm(folder, { recursive: true })
})

type Row = { purpose: string; model: string; calls: number; dollars: number | null; inputTokens: number }
const usage = async (): Promise<{ models: Row[]; embeddings: { kind: string; dollars: number }[] }> =>
  (await client.request('GET', '/usage')).body
const chat = async (path: string, body: object): Promise<string> => {
  const said = await client.request('POST', `/agents/${agentId}${path}`, { stream: false, ...body })
  assert.equal(said.status, 200, JSON.stringify(said.body))
  return said.body.data.metadata.conversationId
}

test('what models are asked beside answers is counted by its purpose, and in the budget where a customer caused it', async () => {
  const source = { type: 'text', name: 'Weights', content: 'The desk lamp weighs two kilograms.' }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
  const conversationId = await chat('/chat', { message: 'What does the desk lamp weigh?' })
  await chat('/chat', { message: 'And how heavy is the other one?', conversationId })
  await lookNow(service.ctx, agentId)
  const before = models.requests.length
  await chat('/playground/runs', { message: 'And how heavy is the thing to climb on?' })
  assert.ok(models.requests.length > before)
  const expected = [
    ['large', 'answer', 2],
    ['large', 'playground', 1],
    ['small', 'insights', 1],
    ['small', 'playground', 1],
    ['small', 'title', 1],
    ['small', 'understanding', 1],
  ]
  const counted = await until('the counts', async () => {
    const { models: rows } = await usage()
    return rows.length >= expected.length && rows
  })
  assert.deepEqual(
    counted.map(({ model, purpose, calls }) => [model, purpose, calls]),
    expected,
  )
  for (const { calls, inputTokens, dollars } of counted) {
    assert.equal(inputTokens, calls * 1_000)
    assert.ok(Math.abs((dollars ?? 0) - calls * 0.003) < 1e-9, `${dollars}`)
  }
  const { embeddings } = await until('the embeddings', async () => {
    const all = await usage()
    return all.embeddings.length === 3 && all
  })
  const ofCustomers = embeddings.filter(({ kind }) => kind !== 'trials')
  const ofVectors = ofCustomers.reduce((sum, { dollars }) => sum + dollars, 0)
  assert.ok(ofVectors > 0)
  const { body: spent } = await client.request('GET', `/agents/${agentId}/spending`)
  assert.ok(Math.abs(spent.dollars - 5 * 0.003 - ofVectors) < 1e-9, `${spent.dollars} and ${ofVectors}`)
  assert.equal(spent.unpricedCalls, 0)
})

test('usage is a CSV file for the API and for operators', async () => {
  const { models: rows, embeddings, days } = (await client.request('GET', '/usage')).body
  const response = await client.raw('GET', '/usage?format=csv')
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/csv/)
  const text = await response.text()
  const lines = text.trim().split('\r\n')
  assert.equal(lines.length, 1 + rows.length + embeddings.length + days.length)
  assert.match(lines[0] ?? '', /^day,agentId,agentName,kind,model,purpose,replies,credits,calls,/)
  assert.ok(
    lines.some((line) => line.includes(',"Lumi, ""the lamp""",model,small,title,,,1,,1000,0,100,0,0.003,0')),
  )
  const file = join(folder, 'usage.csv')
  const input = { values: { account: client.accountId }, positionals: [file] }
  await usageExport.run({ db: service.ctx.db } as never, input)
  assert.equal(await readFile(file, 'utf8'), text)
  assert.equal((await client.request('GET', '/usage?format=xml')).status, 400)
  const wrong = { values: { from: 'May' }, positionals: [file] }
  await assert.rejects(async () => usageExport.run({ db: service.ctx.db } as never, wrong), /no day/)
})

test('the embeddings of questions that the team tries out are counted, and are no part of the budget', async () => {
  const spent = async () => (await client.request('GET', `/agents/${agentId}/spending`)).body.dollars
  const before = await spent()
  await chat('/playground/runs', { message: 'Is the desk lamp made of brass, or of oak?' })
  await until('the count', async () => (await usage()).embeddings.some(({ kind }) => kind === 'trials'))
  assert.equal(await spent(), before)
})
