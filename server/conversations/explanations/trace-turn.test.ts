import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type ModelServer, startModelServer } from '../../../test/fakes/model-server.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { trained, until } from '../../../test/until.ts'

/** What the JSON encoding of OTLP (opentelemetry-proto 1.x, trace/v1/trace.proto) allows in an export request. */
const text = { type: 'string' }
const hex = (length: number) => ({ type: 'string', pattern: `^(?!0+$)[0-9a-f]{${length}}$` })
const object = (required: Record<string, object>, optional: Record<string, object> = {}) => ({
  type: 'object',
  additionalProperties: false,
  required: Object.keys(required),
  properties: { ...required, ...optional },
})
const list = (items: object) => ({ type: 'array', items })
const anyOne = {
  oneOf: [
    object({ stringValue: text }),
    object({ boolValue: { type: 'boolean' } }),
    object({ intValue: { type: 'string', pattern: '^-?\\d{1,19}$' } }),
    object({ doubleValue: { type: 'number' } }),
    object({ arrayValue: object({ values: list({ $ref: '#/$defs/any' }) }) }),
  ],
}
const keyValues = list(object({ key: { type: 'string', minLength: 1 }, value: { $ref: '#/$defs/any' } }))
const nanoseconds = { type: 'string', pattern: '^\\d{19}$' }
const span = object(
  {
    traceId: hex(32),
    spanId: hex(16),
    name: { type: 'string', minLength: 1 },
    kind: { enum: [1, 2, 3, 4, 5] },
    startTimeUnixNano: nanoseconds,
    endTimeUnixNano: nanoseconds,
  },
  {
    parentSpanId: hex(16),
    attributes: keyValues,
    status: object({}, { code: { enum: [0, 1, 2] }, message: text }),
  },
)
const scopeSpans = list(
  object({ scope: object({ name: text, version: text }), spans: list(span) }, { schemaUrl: text }),
)
const isExport = new Ajv2020({ strict: false }).compile({
  $defs: { any: anyOne },
  ...object({
    resourceSpans: list(
      object({ resource: object({ attributes: keyValues }), scopeSpans }, { schemaUrl: text }),
    ),
  }),
})

type Sent = { headers: NodeJS.Dict<string | string[]>; url: string; body: never }
// biome-ignore lint/suspicious/noExplicitAny: spans are read as they arrive
type Any = any
const sent: Sent[] = []
let mode: 'takes' | 'refuses' | 'hangs' = 'takes'
let collector: Server
let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  collector = createServer((request, response) => {
    let raw = ''
    request.on('data', (piece) => {
      raw += piece
    })
    request.on('end', () => {
      if (mode === 'hangs') return
      if (mode === 'takes')
        sent.push({ headers: request.headers, url: request.url ?? '', body: JSON.parse(raw) as never })
      response.writeHead(mode === 'takes' ? 200 : 503, { 'content-type': 'application/json' }).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => collector.once('listening', resolve))
  models = await startModelServer()
})
after(async () => {
  collector.closeAllConnections()
  collector.close()
  await models.close()
})

async function start(env: Record<string, string> = {}): Promise<void> {
  service = await startService({
    ...models.settings,
    ...env,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/otlp/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20b, x-other=1',
    OTEL_SERVICE_NAME: 'shop',
  })
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Lumi' })).body.id
}
const say = (message: string) => client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })

const plain = (attributes: Any[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [one] = Object.values(value as object)
      return [key, one.values ? one.values.map((item: object) => Object.values(item)[0]) : one]
    }),
  )

test('a turn, its calls of models and of tools are one trace without content, which a collector can read', async () => {
  await start()
  models.queue.push({ tokens: ['My secret answer.'], usage: [1_000, 200] })
  assert.equal((await say('My secret question?')).status, 200)
  models.queue.push({ status: 400 })
  assert.equal((await say('Another one?')).status, 502)
  await service.close()
  assert.ok(sent.length > 0)
  for (const { url, headers, body } of sent) {
    assert.ok(isExport(body), JSON.stringify(isExport.errors))
    assert.deepEqual([url, headers['x-token'], headers['x-other']], ['/otlp/v1/traces', 'a b', '1'])
    assert.doesNotMatch(JSON.stringify(body), /secret/)
  }
  const resources = sent.flatMap(({ body }: { body: Any }) => body.resourceSpans)
  assert.equal(plain(resources[0].resource.attributes)['service.name'], 'shop')
  const spans: Any[] = resources.flatMap(({ scopeSpans: scopes }) => scopes.flatMap((one: Any) => one.spans))
  const [root, ...others] = spans.filter(({ name }) => name === 'invoke_agent Lumi')
  assert.equal(others.length, 1)
  const isBeside = ({ attributes }: Any): boolean => 'parley.purpose' in plain(attributes)
  const inTrace = spans.filter((one) => one.traceId === root.traceId && !isBeside(one))
  const chat = inTrace.find(({ name }) => name.startsWith('chat '))
  assert.equal(inTrace.length, 2)
  assert.deepEqual(
    [root.kind, root.parentSpanId, chat.kind, chat.parentSpanId],
    [1, undefined, 3, root.spanId],
  )
  const about = plain(chat.attributes)
  assert.deepEqual(
    [
      about['gen_ai.operation.name'],
      about['gen_ai.provider.name'],
      about['gen_ai.usage.input_tokens'],
      about['gen_ai.usage.output_tokens'],
      about['gen_ai.response.finish_reasons'],
    ],
    ['chat', 'openai', '1000', '200', ['stop']],
  )
  assert.equal(chat.name, `chat ${about['gen_ai.request.model']}`)
  const failed = spans.filter(({ status }) => status.code === 2)
  assert.deepEqual(
    failed.map(({ name, attributes }) => [name.split(' ')[0], plain(attributes)['error.type']]).sort(),
    [
      ['chat', '400'],
      ['invoke_agent', '400'],
    ],
  )
})

test('what is asked beside an answer, and embeddings, are spans by the conventions as well', async () => {
  sent.length = 0
  models.requests.length = 0
  await start({ EMBEDDING_MODEL: 'vectors' })
  const source = { type: 'text', name: 'Secret', content: 'My secret lamp weighs two kilograms.' }
  await trained(service, (await client.request('POST', `/agents/${agentId}/sources`, source)).body.id)
  models.queue.push({ tokens: ['Two.'] })
  const said = await say('What does my secret lamp weigh?')
  await until('the title', () => models.requests.some((one) => JSON.stringify(one).includes('Write a title')))
  await service.close()
  const spans: Any[] = sent.flatMap(({ body }: { body: Any }) =>
    body.resourceSpans.flatMap(({ scopeSpans: scopes }: Any) => scopes.flatMap((one: Any) => one.spans)),
  )
  assert.doesNotMatch(JSON.stringify(spans), /secret/)
  for (const { body } of sent) assert.ok(isExport(body), JSON.stringify(isExport.errors))
  const title = spans.find(({ attributes }) => plain(attributes)['parley.purpose'] === 'title')
  const about = plain(title.attributes)
  assert.match(title.name, /^chat /)
  assert.deepEqual(
    [about['gen_ai.operation.name'], about['gen_ai.provider.name'], about['gen_ai.agent.id'], title.kind],
    ['chat', 'openai', agentId, 3],
  )
  assert.equal(about['gen_ai.conversation.id'], said.body.data.metadata.conversationId)
  const root = spans.find(({ name }) => name === 'invoke_agent Lumi')
  assert.deepEqual([title.traceId, title.parentSpanId], [root.traceId, root.spanId])
  const embeddings = spans.filter(({ name }) => name === 'embeddings vectors')
  assert.ok(embeddings.length >= 2, 'passages and a question')
  for (const { attributes } of embeddings) {
    const of = plain(attributes)
    assert.deepEqual(
      [of['gen_ai.operation.name'], of['gen_ai.request.model'], of['gen_ai.agent.id']],
      ['embeddings', 'vectors', agentId],
    )
    assert.ok(Number(of['gen_ai.usage.input_tokens']) > 0)
  }
})

for (const broken of ['refuses', 'hangs'] as const)
  test(`a collector that ${broken} changes nothing for an answer`, async () => {
    mode = broken
    await start()
    models.queue.push({ tokens: ['Hello.'] })
    assert.equal((await say('Hello?')).body.data.parts[0].text, 'Hello.')
    // What hangs is given up, here by the collector.
    setTimeout(() => collector.closeAllConnections(), 500).unref()
    await service.close()
  })

test('without an endpoint nothing is traced', async () => {
  const silent = await startService(models.settings)
  assert.equal(silent.ctx.traces, null)
  await silent.close()
})
