import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { onPostgres } from '../../test/database.ts'
import { type Schema, sampleOf } from '../../test/sample.ts'
import { type Client, type Service, startService } from '../../test/start.ts'
import { createKey } from '../accounts/keys/keys.ts'
import { reconcile } from '../conversations/records/reconcile-credits.ts'
import type { Endpoint } from '../platform/http/contract.ts'
import { version1Routes } from './routes.ts'

/** Whatever is sent, the response is a success or an error in the wording of version 1. */
/** 300 in all; each database gets different ones. */
const RUNS = process.env.TEST_THOROUGH ? 150 : 30
const SEED = onPostgres() ? 171 : 71
const SIDE_BY_SIDE = 6
/** The number of requests, below the rate limit. */
const KEY_LASTS = 90

let service: Service
let client: Client
let chatbotId: string

before(async () => {
  service = await startService()
  client = await service.account()
  chatbotId = (await client.request('POST', '/api/v1/create-chatbot', { chatbotName: 'Bot' })).body.chatbotId
  await client.request('POST', `/api/v1/chatbots/${chatbotId}/contacts`, { users: [{ external_id: 'ann' }] })
  await client.request('POST', `/api/v1/chatbots/${chatbotId}/custom-attributes`, {
    name: 'plan',
    type: 'text',
  })
})
after(() => service.close())

const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ' ', '\0', '\ud800', '__proto__', 'constructor', 'user', 'text', 'date', '2026-02-30'),
  fc.constantFrom(
    'a'.repeat(129),
    'x'.repeat(70_000),
    '../..',
    "'; drop table contacts; --",
    '🙂',
    '<script>',
  ),
)
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, -0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(word, tie('value'), { maxKeys: 3 }),
  ),
})).value

/** Returns a value that roughly follows the schema: members may be present, missing, or arbitrary. */
function likely(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: good(schema, name) }, { weight: 1, arbitrary: json })
}

function good(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const { type, properties = {}, items = {}, minItems: minLength = 0 } = schema
  if (name === 'chatbotId') return fc.constant(chatbotId)
  if (name === 'contactId') return fc.constant('ann')
  if (type === 'array') return fc.array(likely(items), { minLength, maxLength: minLength + 2 })
  if (type === 'object') {
    const members = Object.entries(properties).map(([member, of]) => [member, likely(of, member)])
    const requiredKeys = (schema.required ?? []) as never[]
    return fc.record(Object.fromEntries(members), { requiredKeys })
  }
  // Values that must be unique must not be the same every time.
  if (type === 'string' && !schema.enum && !schema.format) return fc.stringMatching(/^[a-z]{1,9}$/)
  return fc.constant(sampleOf(schema))
}

const bodyOf = (endpoint: Endpoint): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 8,
      arbitrary: likely((endpoint.body ?? { type: 'object' }) as Schema).map((value) =>
        JSON.stringify(value),
      ),
    },
    { weight: 1, arbitrary: json.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  )

const pathOf = ({ path }: Endpoint): string =>
  `/api/v1${path.replace('{chatbotId}', chatbotId).replace('{externalId}', 'ann').replace('{name}', 'plan')}`

/** Sends each request with a key that has requests left. Returns how many were accepted. */
async function sendAll<T>(inputs: T[], send: (input: T, key: string) => Promise<Response>): Promise<number> {
  const keys: string[] = []
  while (keys.length * KEY_LASTS < inputs.length) {
    keys.push((await createKey(service.ctx.db, client.accountId, { name: 'fuzz' })).key)
  }
  let accepted = 0
  const queue = [...inputs.entries()]
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, input] = next
      const response = await send(input, keys[Math.floor(index / KEY_LASTS)] ?? '')
      const text = await response.text()
      const said = `${response.status} ${text.slice(0, 300)} for ${inspect(input).slice(0, 500)}`
      assert.ok(response.status < 500 && response.status !== 429, said)
      if (response.status < 300) {
        accepted++
        continue
      }
      const { message, issues: _, ...rest } = JSON.parse(text)
      assert.deepEqual([typeof message, rest], ['string', {}], said)
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker))
  return accepted
}

const withBody = (endpoint: Endpoint) => endpoint.method !== 'GET' && !endpoint.multipart

test('random bodies for each endpoint with a body', async () => {
  for (const endpoint of version1Routes(service.ctx)
    .map((route) => route.endpoint)
    .filter(withBody)) {
    const bodies = fc.sample(bodyOf(endpoint), { numRuns: RUNS, seed: SEED })
    const accepted = await sendAll(bodies, (body, key) =>
      fetch(service.url + pathOf(endpoint), {
        method: endpoint.method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      }),
    )
    // If every body were rejected by validation, nothing behind it would be tested.
    if (endpoint.body) assert.ok(accepted >= RUNS / 15, `${endpoint.name}: ${accepted}`)
  }
  await service.ctx.generations.idle()
  assert.equal((await reconcile(service.ctx.db)).balanced, true)
})

test('random queries for each endpoint with a query', async () => {
  const value = fc.oneof(word, fc.constantFrom('1', '100', '0', '-1', '2026-01-01', 'API'))
  for (const endpoint of version1Routes(service.ctx).map((route) => route.endpoint)) {
    const names = Object.keys(((endpoint.query ?? {}) as Schema).properties ?? {})
    // Deleting the chatbot by chance would spoil the remaining requests.
    if (names.length === 0 || endpoint.name === 'deleteChatbot') continue
    const query = fc
      .record(Object.fromEntries(names.map((name) => [name, value])), { requiredKeys: [] })
      .map((members) => new URLSearchParams({ chatbotId, ...members }).toString())
    await sendAll(fc.sample(query, { numRuns: RUNS, seed: SEED + 1 }), (text, key) =>
      fetch(`${service.url}${pathOf(endpoint)}?${text.slice(0, 8_000)}`, {
        method: endpoint.method,
        headers: { authorization: `Bearer ${key}` },
      }),
    )
  }
})

test('random uploads for each endpoint with uploads', async () => {
  const magic = ['\x89PNG\r\n\x1a\n', 'GIF89a', '\xff\xd8\xff\xe0', 'RIFF\x10\0\0\0WEBPVP8 ', '<svg ', '']
  const upload = fc.record({
    start: fc.constantFrom(...magic),
    bytes: fc.uint8Array({ maxLength: 400 }),
    field: fc.constantFrom('chatbotIconFile', 'profilePictureFile', 'file', 'chatbotId'),
    id: fc.constantFrom('own', 'none', '', '\0'),
    cut: fc.constantFrom(0, 0, 0, 5, 60),
  })
  for (const endpoint of version1Routes(service.ctx).map((route) => route.endpoint)) {
    if (!endpoint.multipart) continue
    await sendAll(fc.sample(upload, { numRuns: RUNS, seed: SEED + 2 }), async (made, key) => {
      const form = new FormData()
      form.append('chatbotId', made.id === 'own' ? chatbotId : made.id)
      form.append(made.field, new Blob([Buffer.from(made.start, 'latin1'), Buffer.from(made.bytes)]), 'a.png')
      const whole = new Response(form)
      const body = Buffer.from(await whole.clone().arrayBuffer())
      return fetch(service.url + pathOf(endpoint), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': whole.headers.get('content-type') ?? '',
        },
        body: body.subarray(0, body.length - made.cut),
      })
    })
  }
})
