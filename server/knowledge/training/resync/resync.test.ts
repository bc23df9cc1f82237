import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { claimDueSyncs } from './claim-resyncs.ts'
import { planSyncs } from './plan-resyncs.ts'
import { syncSource } from './resync-source.ts'

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS

type Page = { status?: number; body: string; etag?: string; modified?: string }

let service: Service
let client: Client
let site: Server
let siteUrl: string
const pages = new Map<string, Page>()
const requests: { path: string; headers: IncomingHttpHeaders; status: number }[] = []

before(async () => {
  site = createServer(({ url = '', headers }, response) => {
    const { status = 200, body, etag, modified } = pages.get(url) ?? { status: 404, body: 'nothing' }
    const isKnown =
      status === 200 &&
      ((etag && headers['if-none-match'] === etag) || (modified && headers['if-modified-since'] === modified))
    const sent = isKnown ? 304 : status
    requests.push({ path: url, headers, status: sent })
    response
      .writeHead(sent, {
        'content-type': 'text/html',
        ...(etag ? { etag } : {}),
        ...(modified ? { 'last-modified': modified } : {}),
      })
      .end(isKnown ? undefined : body)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as AddressInfo
  siteUrl = `http://127.0.0.1:${port}`
  service = await startService({ ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` })
  client = await service.account()
})
after(async () => {
  await service.close()
  site.close()
})

const html = (text: string): string => `<html><body><article><p>${text}</p></article></body></html>`

async function newAgent(owner = client): Promise<string> {
  return (await owner.request('POST', '/agents', { name: 'Agent' })).body.id
}

async function addLink(agentId: string, path: string, owner = client): Promise<string> {
  const body = { type: 'link', url: siteUrl + path, linkType: 'individual' }
  const answer = await owner.request('POST', `/agents/${agentId}/sources`, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.id
}

/** Creates an agent with one live page that is re-synced. */
async function agentWith(path: string, page: Page): Promise<{ agentId: string; id: string }> {
  pages.set(path, page)
  const agentId = await newAgent()
  const id = await addLink(agentId, path)
  assert.equal((await settled(id)).status, 'trained')
  await setAutoRetrain(agentId, true)
  return { agentId, id }
}

async function setAutoRetrain(agentId: string, enabled: boolean, owner = client): Promise<void> {
  const answer = await owner.request('PUT', `/agents/${agentId}/auto-retrain`, { enabled })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

const rowOf = (id: string) =>
  service.ctx.db.selectFrom('sources').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

async function settled(id: string) {
  for (;;) {
    const row = await rowOf(id)
    if (row.status === 'trained' || row.status === 'failed') return row
    await wait(30)
  }
}

async function passages(question: string, agentId: string): Promise<string[]> {
  const row = await service.ctx.db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', agentId)
    .executeTakeFirstOrThrow()
  const where = { id: agentId, accountId: row.account_id, knowledgeVersion: row.knowledge_version }
  return (await service.ctx.knowledge.search(where, [question], { limit: 5 })).passages.map(
    ({ text }) => text,
  )
}
const finds = async (marker: string, agentId: string): Promise<boolean> =>
  (await passages(`What about ${marker}?`, agentId)).some((text) => text.includes(marker))

const look = (sourceId: string, last = true) =>
  syncSource(service.ctx, { sourceId }, { isLast: () => last, signal: new AbortController().signal })

const makeDue = (id: string) =>
  service.ctx.db
    .updateTable('sources')
    .set({ next_sync_at: new Date(0) })
    .where('id', '=', id)
    .execute()

/** Waits until the claimed re-sync has planned the next one in a week. */
async function weekAway(id: string) {
  for (;;) {
    const row = await rowOf(id)
    if (Number(row.next_sync_at) > Date.now() + 6 * DAY_MS && row.status === 'trained') return row
    await wait(30)
  }
}

test('sources of agents with re-sync get times spread over the week; others get none', async () => {
  const now = new Date()
  const agentId = await newAgent()
  const text = { type: 'text', name: 'Text', content: 'A live text.' }
  const live = (await client.request('POST', `/agents/${agentId}/sources`, text)).body.id
  await settled(live)
  const ids: string[] = []
  for (let i = 0; i < 12; i++) {
    pages.set(`/spread/${i}`, { body: html(`Page number ${i} of the spread, long enough to be read.`) })
    ids.push(await addLink(agentId, `/spread/${i}`))
  }
  // A source that goes live later gets another time.
  for (const id of ids) await settled(id)
  await planSyncs(service.ctx.db, now)
  assert.equal((await rowOf(ids[0]!)).next_sync_at, null)
  await setAutoRetrain(agentId, true)
  await Promise.all([planSyncs(service.ctx.db, now), planSyncs(service.ctx.db, now)])
  const moments = await Promise.all(ids.map(async (id) => Number((await rowOf(id)).next_sync_at)))
  assert.ok(moments.every((moment) => moment >= now.getTime() && moment <= now.getTime() + WEEK_MS))
  assert.ok(new Set(moments).size === 12)
  assert.equal((await rowOf(live)).next_sync_at, null, 'a text has no origin')
  await planSyncs(service.ctx.db, now)
  assert.deepEqual(await Promise.all(ids.map(async (id) => Number((await rowOf(id)).next_sync_at))), moments)

  await setAutoRetrain(agentId, false)
  await makeDue(ids[0]!)
  assert.equal(await claimDueSyncs(service.ctx), 0)
  assert.equal((await rowOf(ids[0]!)).next_sync_at, null)
})

test('a due source is claimed once, and checked again a week later', async () => {
  const { id } = await agentWith('/once', { body: html('The marker ashcombe is on this page.'), etag: '"1"' })
  await makeDue(id)
  requests.length = 0
  const claimed = await Promise.all([1, 2, 3, 4].map(() => claimDueSyncs(service.ctx)))
  assert.equal(
    claimed.reduce((sum, count) => sum + count),
    1,
  )
  const row = await weekAway(id)
  assert.deepEqual(
    requests.map(({ path, status }) => [path, status]),
    [['/once', 304]],
  )
  assert.equal(row.content_version, 1)
})

test('a claimed source that was not processed is due again the next day', async () => {
  const { id } = await agentWith('/lost', { body: html('The marker bexhollow is on this page.') })
  const now = new Date()
  // The job does nothing for a page that is being processed.
  await service.ctx.db
    .updateTable('sources')
    .set({ next_sync_at: now, status: 'updated' })
    .where('id', '=', id)
    .execute()
  await claimDueSyncs(service.ctx, now)
  assert.equal(Number((await rowOf(id)).next_sync_at), now.getTime() + DAY_MS)
  assert.equal(await claimDueSyncs(service.ctx, new Date(now.getTime() + DAY_MS - 1)), 0)
  await service.ctx.db.updateTable('sources').set({ status: 'trained' }).where('id', '=', id).execute()
})

test('unchanged content changes nothing, with and without conditional requests', async () => {
  const body = html('The marker cobblewick stands on this page.')
  for (const page of [{ body, etag: '"a"' }, { body, modified: 'Mon, 05 Jan 2026 10:00:00 GMT' }, { body }]) {
    const { id } = await agentWith(`/same/${JSON.stringify(page).length}`, page)
    const before = await rowOf(id)
    requests.length = 0
    await look(id)
    assert.equal(requests.at(-1)?.status, 'etag' in page || 'modified' in page ? 304 : 200)
    const { next_sync_at: _, trainings, ...rest } = await rowOf(id)
    const { next_sync_at: __, trainings: earlier, ...were } = before
    assert.deepEqual(rest, were)
    const outcomes = (trainings as { outcome: string }[]).map(({ outcome }) => outcome)
    assert.deepEqual([outcomes[0], outcomes.length], ['unchanged', (earlier as unknown[]).length + 1])
  }
  const { id } = await agentWith('/touched', { body, etag: '"a"' })
  pages.set('/touched', { body: `<!-- made at noon -->${body}`, etag: '"b"' })
  await look(id)
  assert.deepEqual([(await rowOf(id)).content_version, (await rowOf(id)).origin_etag], [1, '"b"'])
})

test('changed content goes live in the background while the earlier version is used', async () => {
  const { agentId, id } = await agentWith('/changed', {
    body: html('The marker dellbrook is first.'),
    etag: '"1"',
  })
  pages.set('/changed', { body: html('The marker eskmouth is second.'), etag: '"2"' })
  await makeDue(id)
  assert.equal(await claimDueSyncs(service.ctx), 1)
  while ((await rowOf(id)).content_version === 1) await wait(5)
  assert.ok((await finds('dellbrook', agentId)) || (await finds('eskmouth', agentId)))
  const row = await weekAway(id)
  assert.deepEqual([row.content_version, row.live_version, row.origin_etag], [2, 2, '"2"'])
  assert.deepEqual([await finds('dellbrook', agentId), await finds('eskmouth', agentId)], [false, true])
})

test('a failed check keeps the live version and is repeated the next day', async () => {
  const { agentId, id } = await agentWith('/broken', { body: html('The marker fenwarren stays.') })
  pages.set('/broken', { status: 503, body: 'later' })
  await assert.rejects(look(id, false), /503/)
  assert.equal((await rowOf(id)).status, 'trained', 'another attempt comes first')
  await service.ctx.db
    .updateTable('sources')
    .set({ next_sync_at: new Date(Date.now() + DAY_MS) })
    .where('id', '=', id)
    .execute()
  await look(id)
  const { status, error, next_sync_at } = await rowOf(id)
  assert.equal(status, 'failed')
  assert.match(error ?? '', /HTTP 503.*earlier version remains in use/)
  assert.ok(Number(next_sync_at) <= Date.now() + DAY_MS)
  assert.ok(await finds('fenwarren', agentId))
  pages.set('/broken', { body: html('The marker fenwarren stays.') })
  await look(id)
  assert.deepEqual([(await rowOf(id)).status, (await rowOf(id)).error], ['trained', null])

  pages.set('/broken', { body: '<html><body></body></html>' })
  await look(id)
  assert.equal((await rowOf(id)).status, 'failed')
  assert.ok(await finds('fenwarren', agentId), 'an empty page is a fault, not a deletion')
})

test('a missing page is removed from answers, and returns with the page', async () => {
  for (const status of [404, 410]) {
    const path = `/gone/${status}`
    const body = html(`The marker garthmoor${status} is on this page.`)
    const { agentId, id } = await agentWith(path, { body, etag: '"1"' })
    pages.set(path, { status, body: 'gone' })
    await look(id)
    const row = await rowOf(id)
    assert.deepEqual([row.status, row.live_version, row.size], ['failed', null, 0])
    assert.match(row.error ?? '', new RegExp(String(status)))
    const { body: answer } = await client.request('POST', `/agents/${agentId}/chat`, {
      message: `What is garthmoor${status}?`,
      stream: false,
    })
    assert.doesNotMatch(answer.data.parts[0].text, /is on this page/)
    await look(id)
    pages.set(path, { body, etag: '"1"' })
    requests.length = 0
    await look(id)
    assert.equal((await settled(id)).status, 'trained')
    assert.deepEqual([requests[0]?.status, requests[0]?.headers['if-none-match']], [200, undefined])
    assert.ok(await finds(`garthmoor${status}`, agentId))
  }
})

test('a manual change takes precedence', async () => {
  const { id } = await agentWith('/race', { body: html('The marker hollinsey is on this page.') })
  pages.set('/race', { body: html('The marker inverfield is new.') })
  await Promise.all([look(id), look(id), look(id)])
  await settled(id)
  assert.equal((await rowOf(id)).content_version, 2, 'one new version of one change')
  await client.request('DELETE', `/agents/${(await rowOf(id)).agent_id}/sources/${id}`)
  await look(id)
})

test('a failed source is not left for a week', async () => {
  const { id } = await agentWith('/failed', { body: html('The marker jarrowby is on this page.') })
  const now = new Date()
  const inFiveDays = new Date(now.getTime() + 5 * DAY_MS)
  await service.ctx.db
    .updateTable('sources')
    .set({ next_sync_at: inFiveDays, status: 'failed' })
    .where('id', '=', id)
    .execute()
  await planSyncs(service.ctx.db, now)
  const next = Number((await rowOf(id)).next_sync_at)
  assert.ok(next > now.getTime() && next <= now.getTime() + DAY_MS)
})

test('a plan without the feature re-syncs nothing, whatever the setting', async () => {
  const owner = await service.account({ plan: 'standard' })
  pages.set('/plan', { body: html('The marker kelmsford is on this page.') })
  const agentId = await newAgent(owner)
  const early = await owner.request('PUT', `/agents/${agentId}/auto-retrain`, { enabled: true })
  assert.deepEqual([early.status, early.body.error.code], [409, 'AGENT_NOT_TRAINED'])
  const id = await addLink(agentId, '/plan', owner)
  await settled(id)
  await setAutoRetrain(agentId, true, owner)
  await planSyncs(service.ctx.db)
  assert.notEqual((await rowOf(id)).next_sync_at, null)
  await service.ctx.db
    .updateTable('accounts')
    .set({ plan: 'hobby' })
    .where('id', '=', owner.accountId)
    .execute()
  await makeDue(id)
  await claimDueSyncs(service.ctx)
  assert.equal((await rowOf(id)).next_sync_at, null)
})

test('a website that is due is crawled again', async () => {
  pages.set('/tree/', {
    body: `${html('The marker lantonby is the first page.')}<a href="/tree/leaf">leaf</a>`,
  })
  pages.set('/tree/leaf', { body: html('The marker mossgill is the leaf of the tree.') })
  const agentId = await newAgent()
  const body = { type: 'link', url: `${siteUrl}/tree/`, linkType: 'crawl' }
  const { id } = (await client.request('POST', `/agents/${agentId}/sources`, body)).body
  assert.equal((await settled(id)).status, 'trained')
  await setAutoRetrain(agentId, true)
  pages.set('/tree/leaf', { body: html('The marker nettleham is what the leaf says now.') })
  await makeDue(id)
  assert.equal(await claimDueSyncs(service.ctx), 1)
  while ((await rowOf(id)).content_version === 1) await wait(20)
  const row = await weekAway(id)
  assert.deepEqual([row.status, row.live_version], ['trained', row.content_version])
  assert.deepEqual(
    [await finds('lantonby', agentId), await finds('mossgill', agentId), await finds('nettleham', agentId)],
    [true, false, true],
  )
})
