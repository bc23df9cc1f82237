import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { type Fault, type NotionServer, startNotionServer } from '../../../../test/fakes/notion-server.ts'
import { block, type FakeBlock, fakePage } from '../../../../test/fakes/notion-wire.ts'
import { createGuardedFetcher } from '../../../platform/fetch/guard/guarded-fetcher.ts'
import { readPage } from '../pages/read-page.ts'
import { createNotionClient } from './notion-client.ts'
import { NotionFailure } from './notion-failure.ts'
import { createSchedule } from './pace.ts'
import { waitOf } from './read-answer.ts'

let notion: NotionServer
const fetcher = createGuardedFetcher({ allowedPrivateHosts: ['127.0.0.1'], userAgent: 'test' })
const page = fakePage('Page', [block('paragraph', 'Text.')])

before(async () => {
  notion = await startNotionServer()
})
after(async () => {
  await notion.close()
  await fetcher.close()
})
beforeEach(() => {
  notion.faults.length = 0
  notion.requests.length = 0
  notion.pages.clear()
  notion.pages.set(page.id, page)
})

const clientWith = (
  more: { retries?: number; timeoutMs?: number; baseUrl?: string; signal?: AbortSignal } = {},
) => createNotionClient({ fetcher, accessToken: 'secret-token', baseUrl: notion.url, retries: 1, ...more })

const failsWith = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof NotionFailure && error.code === code && words.test(error.message)

test('temporary errors are retried', async () => {
  const faults: Fault[] = [
    { status: 429, code: 'rate_limited', retryAfter: '0' },
    { status: 503, code: 'service_unavailable' },
    { status: 409, code: 'conflict_error' },
    { broken: '{"object": "pa' },
    { broken: '"text"' },
  ]
  for (const fault of faults) {
    notion.faults.push(fault)
    assert.equal((await clientWith().page(page.id)).id, page.id, JSON.stringify(fault))
  }
  assert.equal(notion.requests.length, 2 * faults.length)
})

test('the client waits as long as Retry-After says', () => {
  const answer = (headers: Record<string, string>) => ({ status: 429, headers, bytes: new Uint8Array() })
  assert.equal(waitOf(answer({ 'retry-after': '7' })), 7_000)
  assert.equal(waitOf(answer({ 'retry-after': 'soon' })), null)
  assert.equal(waitOf(answer({})), null)
})

test('permanent errors fail with a sentence and a kind', async () => {
  const limited: Fault = { status: 429, code: 'rate_limited', retryAfter: '0' }
  notion.faults.push(limited, limited)
  await assert.rejects(clientWith().page(page.id), failsWith('limited', /too many requests/))
  notion.faults.push({ status: 429, code: 'rate_limited', retryAfter: '3600' })
  await assert.rejects(clientWith().page(page.id), failsWith('limited', /too many requests/))
  notion.faults.push({ status: 500, code: 'internal_server_error' }, { status: 502, code: 'bad' })
  await assert.rejects(clientWith().page(page.id), failsWith('unreachable', /502/))
  notion.faults.push({ delayMs: 300 })
  await assert.rejects(
    clientWith({ retries: 0, timeoutMs: 100 }).page(page.id),
    failsWith('unreachable', /longer than/),
  )
  notion.faults.push({ status: 401, code: 'unauthorized' })
  await assert.rejects(clientWith().page(page.id), failsWith('unauthorized', /Connect it again/))
  notion.faults.push({ status: 403, code: 'restricted_resource' })
  await assert.rejects(clientWith().page(page.id), failsWith('refused', /may not/))
  await assert.rejects(clientWith().page('gone'), failsWith('gone', /not shared/))
  await assert.rejects(readPage(clientWith(), 'gone', null), failsWith('gone', /not shared/))
  const nobody = clientWith({ baseUrl: 'http://127.0.0.1:9', retries: 0 })
  await assert.rejects(nobody.page(page.id), failsWith('unreachable', /cannot be reached/))
  notion.faults.push({ broken: '{}' })
  await assert.rejects(clientWith().children(page.id, null), failsWith('broken', /list/))
})

test('no error reveals the token, and a redirect does not receive it', async () => {
  const seen: unknown[] = []
  const other = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(302, { location: `${notion.url}/v1/pages/${page.id}` }).end()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`
  const failure = await clientWith({ baseUrl, retries: 0 })
    .page(page.id)
    .catch((error: NotionFailure) => error)
  other.close()
  assert.ok(failure instanceof NotionFailure)
  assert.doesNotMatch(`${failure.stack} ${(failure.cause as Error).stack}`, /secret-token/)
  assert.deepEqual([seen.length, notion.requests.length], [1, 0])
})

test('aborting ends the client, even while it waits', async () => {
  const controller = new AbortController()
  notion.faults.push({ status: 429, code: 'rate_limited', retryAfter: '30' })
  const asked = clientWith({ signal: controller.signal }).page(page.id)
  setTimeout(() => controller.abort(), 50)
  await assert.rejects(asked)
})

test('three requests per second are sent, and a few more after a pause', () => {
  const delayOf = createSchedule({ perSecond: 4, burst: 3 })
  assert.deepEqual(
    [0, 0, 0, 0, 0, 100].map((now) => delayOf(now)),
    [0, 0, 0, 250, 500, 650],
  )
  assert.deepEqual(
    [60_000, 60_000, 60_000, 60_000].map((now) => delayOf(now)),
    [0, 0, 0, 250],
  )
})

test('a page that is nested endlessly, or too long, is rejected or cut', async () => {
  const deep = (levels: number): FakeBlock[] =>
    levels === 0 ? [] : [block('toggle', `Level ${levels}`, deep(levels - 1))]
  const nested = fakePage('Nested', deep(9))
  notion.pages.set(nested.id, nested)
  const read = await readPage(clientWith(), nested.id, null)
  assert.deepEqual(read?.sections.at(-1)?.headingPath.length, 9)
  const long = fakePage('Long', [
    block('paragraph', 'x'.repeat(3_000_000)),
    ...Array(101).fill(block('divider', '')),
  ])
  notion.pages.set(long.id, long)
  await assert.rejects(readPage(clientWith(), long.id, null), failsWith('too_large', /Split/))
})

test('unexpected responses are read as far as possible', async () => {
  const odd = fakePage('Odd', [
    { id: 'a', type: 'paragraph', content: { rich_text: 'no list' } },
    { id: 'b', type: 'bulleted_list_item', content: { rich_text: [{}, null, { plain_text: 5 }] } },
    { id: 'c', type: 'table', content: {} },
    { id: 'd', type: 'invented', content: [] },
    block('paragraph', 'Still here.'),
  ])
  notion.pages.set(odd.id, odd)
  const read = await readPage(clientWith(), odd.id, null)
  assert.match(read?.sections[0]?.text ?? '', /Still here\./)
})
