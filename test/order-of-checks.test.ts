import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Client, type Service, startService } from './start.ts'

/**
 * Tests "Order of checks" of the contract: problems of the request itself are reported before the agent is looked up.
 */

let service: Service
let client: Client

before(async () => {
  service = await startService()
  client = await service.account()
})
after(() => service.close())

const account = { accessToken: 'a', appSecret: 'b', verifyToken: 'c' }
const site = { type: 'link', linkType: 'crawl', url: 'https://example.com' }
const broken = ['(?=a)']

const cases: [what: string, method: string, path: string, body: object, fields: string[]][] = [
  ['a chat without a message', 'POST', 'chat', {}, ['message']],
  ['and with a field that is ignored', 'POST', 'chat', { text: 'x' }, ['message']],
  [
    'an account that is given twice',
    'PUT',
    'messaging/connection',
    {
      accounts: [
        { ...account, businessAccountId: '1' },
        { ...account, businessAccountId: '1' },
      ],
      baseUrl: 'example.com',
      unheardOf: 1,
    },
    ['accounts.1.businessAccountId', 'baseUrl', 'unheardOf'],
  ],
  ['another server', 'PUT', 'pages-connection', { accessToken: 'x', baseUrl: 'ftp://a' }, ['baseUrl']],
  ['a link', 'POST', 'sources', { ...site, url: 'ftp://a', slowScraping: 1 }, ['slowScraping', 'url']],
  ['patterns', 'POST', 'sources', { ...site, excludePaths: broken }, ['excludePaths.0']],
  ['other patterns', 'PUT', 'sources/1', { includeOnlyPaths: broken }, ['includeOnlyPaths.0']],
  ['a page', 'POST', 'sources', { type: 'notionPage', pageId: 'x' }, ['pageId']],
  ['the name of a topic', 'POST', 'topics', { name: 'Unspecified' }, ['name']],
  [
    'an action',
    'POST',
    'actions',
    { type: 'client', description: 'x', name: 'start_procedure', inputs: { type: 'string' } },
    ['inputs', 'name'],
  ],
  ['a takeover', 'POST', 'conversations/1/takeover', {}, ['memberId']],
]

for (const [what, method, path, body, fields] of cases) {
  test(`${what}: 400 before 404`, async () => {
    const answer = await client.request(method, `/agents/nobody/${path}`, body)
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'VALIDATION_INVALID_BODY'])
    assert.deepEqual(Object.keys(answer.body.error.details).sort(), fields)
  })
}

test('unacceptable files: 400 before 404', async () => {
  const upload = (path: string, form: FormData) =>
    client.raw('POST', `/agents/nobody/${path}`, { body: form }).then(async (response) => {
      const { error } = (await response.json()) as { error: { details: object } }
      assert.equal(response.status, 400)
      return Object.keys(error.details).sort()
    })
  assert.deepEqual(await upload('sources', new FormData()), ['file', 'name'])
  const form = new FormData()
  form.append('file', new Blob([]), 'a.txt')
  assert.deepEqual(await upload('helpdesk/attachments', form), ['file'])
})

test('a range with too many days: 400 before 404', async () => {
  const path = '/agents/nobody/insights?startDate=2020-01-01&endDate=2026-01-01'
  const { status, body } = await client.request('GET', path)
  assert.deepEqual([status, Object.keys(body.error.details ?? {})], [400, ['startDate']])
})

test('in version 1, a chat whose last message is an answer: 400 before 404', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
  ]
  const { status, body } = await client.request('POST', '/api/v1/chat', { chatbotId: 'nobody', messages })
  assert.deepEqual([status, body], [400, { message: 'Invalid request data' }])
})
