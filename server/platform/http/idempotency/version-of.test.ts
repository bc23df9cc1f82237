import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { memberOf } from '../../../../test/workspace.ts'

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

/** What is read, with which request it is changed, and two different changes. */
const CASES: [read: string, method: string, path: string, one: object, two: object][] = [
  ['', 'PUT', '', { instructions: 'Be short.' }, { instructions: 'Be long.' }],
  ['', 'PUT', '/styles', { styles: { chat: { footer: 'One' } } }, { styles: { chat: { footer: 'Two' } } }],
  ['/retention', 'PUT', '/retention', { retentionDays: 30 }, { retentionDays: 60 }],
  ['/helpdesk/settings', 'PUT', '/helpdesk/settings', { surveyEnabled: true }, { surveyEnabled: false }],
  ['/topics/settings', 'PATCH', '/topics/settings', { frozen: true }, { frozen: false }],
]

const newAgent = async (): Promise<string> =>
  `/agents/${(await client.request('POST', '/agents', { name: 'Agent' })).body.id}`

for (const [read, method, path, one, two] of CASES) {
  test(`${method} ${path || 'of the agent'} changes only the version that If-Match names`, async () => {
    const agent = await newAgent()
    const look = () => client.request('GET', agent + read)
    const change = (body: object, ifMatch?: string) =>
      client.request(method, agent + path, body, ifMatch === undefined ? {} : { 'if-match': ifMatch })
    const first = await look()
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[\w-]{22}"$/)
    assert.equal((await look()).headers.get('etag'), etag)
    assert.equal((await change(one, etag)).status, 200)
    const second = await look()
    const changed = second.headers.get('etag') ?? ''
    assert.notEqual(changed, etag)

    const late = await change(two, etag)
    assert.deepEqual([late.status, late.body.error.code], [412, 'VERSION_MISMATCH'])
    assert.equal(late.headers.get('etag'), changed)
    assert.deepEqual(late.body.error.details.current, second.body)
    assert.deepEqual((await look()).body, second.body)

    // Whoever has seen the newer version may change it, and whoever names none does as before.
    assert.equal((await change(two, `"other", ${changed}`)).status, 200)
    assert.equal((await change(one)).status, 200)
    assert.equal((await change(two, '*')).status, 200)
    assert.equal((await change(two, `W/${(await look()).headers.get('etag')}`)).status, 412)
    const unquoted = await change(one, 'abc')
    assert.deepEqual([unquoted.status, Object.keys(unquoted.body.error.details)], [400, ['If-Match']])
    assert.equal((await client.request(method, `/agents/none${path}`, one, { 'if-match': etag })).status, 404)
  })

  test(`of many ${method} ${path || 'of the agent'} that name one version, one takes effect`, async () => {
    const agent = await newAgent()
    const etag = (await client.request('GET', agent + read)).headers.get('etag') ?? ''
    const answers = await Promise.all(
      [one, one, one, one].map((body) => client.request(method, agent + path, body, { 'if-match': etag })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412])
  })
}

test('the version is that of the settings, not of what happens to an agent', async () => {
  const agent = await newAgent()
  const before = await client.request('GET', agent)
  await client.request('POST', `${agent}/sources`, { type: 'text', name: 'Hours', content: 'Nine to five.' })
  await client.request('POST', `${agent}/chat`, { message: 'When are you open?', stream: false })
  const now = await client.request('GET', agent)
  assert.notDeepEqual(now.body, before.body)
  assert.ok(before.headers.get('etag'))
  assert.equal(now.headers.get('etag'), before.headers.get('etag'))
})

test('a mismatch names who made the last change, to those who may read it', async () => {
  const owner = await memberOf(service, client.accountId, 'owner')
  const agent = await newAgent()
  const etag = (await client.request('GET', agent)).headers.get('etag') ?? ''
  await owner.request('PUT', agent, { instructions: 'Be kind.' })
  const late = await client.request('PUT', agent, { instructions: 'Be quick.' }, { 'if-match': etag })
  assert.deepEqual([late.status, late.body.error.details.changedBy], [412, 'owner'])
  assert.ok(Date.parse(late.body.error.details.changedAt) > Date.now() - 60_000)
  const { key } = (await client.request('POST', '/keys', { name: 'Writes', scopes: ['agents:write'] })).body
  const blind = await service.anonymous(
    'PUT',
    agent,
    { instructions: 'Be quick.' },
    { authorization: `Bearer ${key}`, 'if-match': etag },
  )
  assert.deepEqual([blind.status, blind.body.error.details], [412, undefined])
})

test('a version is restored only in place of the one that If-Match names', async () => {
  const agent = await newAgent()
  await client.request('PUT', agent, { instructions: 'Be short.' })
  const etag = (await client.request('GET', agent)).headers.get('etag') ?? ''
  await client.request('PUT', agent, { instructions: 'Be long.' })
  const versions = (await client.request('GET', `${agent}/instructions/versions`)).body.data
  const restore = (headers: Record<string, string>) =>
    client.request('POST', `${agent}/instructions/versions/${versions[1].id}/restore`, undefined, headers)
  const key = { 'idempotency-key': 'restore-1' }
  assert.equal((await restore({ ...key, 'if-match': etag })).status, 412)
  const current = (await client.request('GET', agent)).headers.get('etag') ?? ''
  assert.equal((await restore({ ...key, 'if-match': current })).status, 200)
  assert.equal((await restore({ ...key, 'if-match': current })).headers.get('idempotency-replayed'), 'true')
  assert.equal((await client.request('GET', agent)).body.instructions, 'Be short.')
})
