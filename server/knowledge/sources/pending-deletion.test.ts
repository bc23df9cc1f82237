import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { page, startWebSite, type WebSite } from '../../../test/fakes/web-site.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { websites } from '../../../test/websites.ts'
import { enqueueCrawl } from '../crawl/run/enqueue-crawl.ts'
import { planSyncs } from '../training/resync/plan-resyncs.ts'
import { syncSource } from '../training/resync/resync-source.ts'
import { markDeleted } from './delete-source.ts'
import { freeDeletions, resumeDeletions } from './empty-source.ts'
import { requireSource } from './queries.ts'

let service: Service
let site: WebSite
let client: Client
let agentId: string
let sources: string

before(async () => {
  site = await startWebSite()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: site.host })
})
after(async () => {
  await service.close()
  await site.close()
})
beforeEach(async () => {
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
  sources = `/agents/${agentId}/sources`
})

async function trained(body: object): Promise<string> {
  const { id } = (await client.request('POST', sources, body)).body
  while ((await read(id)).body.status !== 'trained') await wait(50)
  return id
}
const text = { type: 'text', name: 'Text', content: 'The password of the quillfeather is quillfeather-42.' }
const read = (id: string) => client.request('GET', `${sources}/${id}`)
const codeOf = async (answer: Promise<{ status: number; body: { error?: { code: string } } }>) => {
  const { status, body } = await answer
  return [status, body.error?.code]
}
/** Sets the state that a process leaves when it ends while it deletes a large source. */
const leaveHalfDeleted = (id: string) =>
  service.ctx.db.transaction().execute(async (trx) => {
    await markDeleted(
      trx,
      await requireSource(trx, { accountId: client.accountId, agentId, sourceId: id }, true),
    )
  })
const letTheLeaseEnd = (id: string) =>
  service.ctx.db
    .updateTable('sources')
    .set({ deletion_held_until: new Date(Date.now() - 1_000) })
    .where('id', '=', id)
    .execute()
const isLeft = async (table: 'sources' | 'chunks' | 'pages', id: string): Promise<boolean> => {
  const column = table === 'sources' ? 'id' : 'source_id'
  const rows = await service.ctx.db
    .selectFrom(table)
    .select('id')
    .where(column as 'id', '=', id)
    .execute()
  return rows.length > 0
}

test('a source that is being deleted is shown as such, rejects changes, and does not count', async () => {
  const id = await trained(text)
  await leaveHalfDeleted(id)
  const { body } = await read(id)
  assert.deepEqual([body.status, body.error, body.size, body.name], ['toBeDeleted', null, 0, 'Text'])
  const pending = [409, 'SOURCE_PENDING_DELETION']
  assert.deepEqual(await codeOf(client.request('PUT', `${sources}/${id}`, { content: 'Other.' })), pending)
  assert.deepEqual(await codeOf(client.request('PUT', `${sources}/${id}`, { name: 'Other' })), pending)
  assert.deepEqual(await codeOf(client.request('PUT', `${sources}/${id}`, {})), pending)
  assert.deepEqual(await codeOf(client.request('DELETE', `${sources}/${id}`)), [
    409,
    'SOURCE_ALREADY_PENDING_DELETION',
  ])
  assert.deepEqual((await read(id)).body, body)

  const { data } = (await client.request('GET', sources)).body
  assert.deepEqual(data, [body])
  const { texts } = (await client.request('GET', `${sources}/summary`)).body
  assert.deepEqual(texts, { count: 0, size: 0 })
  const agent = (await client.request('GET', `/agents/${agentId}`)).body
  assert.deepEqual([agent.status, agent.size], ['untrained', 0])
  const evaluation = { question: 'x', expectedSourceId: id }
  const refused = await client.request('POST', `/agents/${agentId}/evaluations`, evaluation)
  assert.ok(refused.body.error.details.expectedSourceId)
  const clone = (await client.request('POST', `/agents/${agentId}/clone`)).body
  assert.deepEqual(clone.pendingSteps, undefined)
  assert.equal((await client.request('GET', `/agents/${clone.id}/sources`)).body.pagination.total, 0)
})

test('a file that is being deleted accepts no other file', async () => {
  const form = (name: string): FormData => {
    const body = new FormData()
    body.set('name', name)
    body.set('file', new Blob(['The marker brindlewick.']), 'notes.txt')
    return body
  }
  const made = (await (await client.raw('POST', sources, { body: form('Notes') })).json()) as { id: string }
  while ((await read(made.id)).body.status !== 'trained') await wait(50)
  await leaveHalfDeleted(made.id)
  const answer = await client.raw('PUT', `${sources}/${made.id}`, { body: form('Other') })
  const { error } = (await answer.json()) as { error: { code: string } }
  assert.deepEqual([answer.status, error.code], [409, 'SOURCE_PENDING_DELETION'])
})

test('a website that is being deleted is not crawled again, and its URL is free', async () => {
  site.pages.set('/', page('Home', 'The marker copperlace.', ['/b']))
  site.pages.set('/b', page('B', 'The marker dapplewood.'))
  const web = websites(service, client, agentId)
  const { id } = await web.crawled(`${site.url}/`)
  await client.request('PUT', `/agents/${agentId}/auto-retrain`, { enabled: true })
  const [first] = (await web.pages(id)).values()
  await leaveHalfDeleted(id)
  assert.equal(await web.finds('dapplewood'), false)

  const pending = [409, 'SOURCE_PENDING_DELETION']
  const put = (body: object) => codeOf(client.request('PUT', `${sources}/${id}`, body))
  assert.deepEqual(await put({ slowScraping: true }), pending)
  assert.deepEqual(await put({ linkType: 'sitemap' }), pending)
  const hide = client.request('PATCH', `${sources}/${id}/pages/${first?.id}`, { excluded: true })
  assert.deepEqual(await codeOf(hide), pending)
  const { db, jobs } = service.ctx
  for (const reason of ['resumed', 'changed', 're-sync', 'page'] as const)
    assert.equal(
      await db
        .transaction()
        .execute((trx) => enqueueCrawl(jobs, trx, { accountId: client.accountId, sourceId: id, reason })),
      false,
    )
  await syncSource(service.ctx, { sourceId: id }, { isLast: () => true, signal: AbortSignal.timeout(10_000) })
  await planSyncs(db)
  const row = await db.selectFrom('sources').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  assert.deepEqual([row.status, row.next_sync_at], ['toBeDeleted', null])

  const again = await web.crawled(`${site.url}/`)
  assert.equal(again.status, 'trained')
  assert.ok(await web.finds('dapplewood'))
  await letTheLeaseEnd(id)
  // On a slow machine, the leases of other tests have expired, too.
  assert.ok((await resumeDeletions(service.ctx)) >= 1)
  for (const table of ['sources', 'chunks', 'pages'] as const)
    assert.equal(await isLeft(table, id), false, table)
  assert.ok(await web.finds('dapplewood'))
})

test('an interrupted deletion is resumed when its lease expires, and at once by a single process', async () => {
  const [one, two] = [await trained(text), await trained({ ...text, name: 'Second' })]
  // On a slow machine, leases that earlier tests left behind have expired by now.
  await freeDeletions(service.ctx.db)
  await resumeDeletions(service.ctx)
  await leaveHalfDeleted(one)
  assert.equal(await resumeDeletions(service.ctx), 0)
  await letTheLeaseEnd(one)
  const done = await Promise.all([resumeDeletions(service.ctx), resumeDeletions(service.ctx)])
  assert.deepEqual(done.sort(), [0, 1])
  assert.deepEqual([await isLeft('sources', one), await isLeft('chunks', one)], [false, false])
  assert.equal((await read(one)).status, 404)

  await leaveHalfDeleted(two)
  assert.equal(await resumeDeletions(service.ctx), 0)
  await freeDeletions(service.ctx.db)
  assert.ok((await resumeDeletions(service.ctx)) >= 1)
  assert.equal((await read(two)).status, 404)
})
