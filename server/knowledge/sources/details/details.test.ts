import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ModelServer, startModelServer } from '../../../../test/fakes/model-server.ts'
import { docxOf, word } from '../../../../test/fixtures/hostile-documents.ts'
import { type Client, type Service, startService } from '../../../../test/start.ts'
import { until } from '../../../../test/until.ts'
import { describeLargeAgents } from '../../search/embedded-limit.ts'

let models: ModelServer
let service: Service
let client: Client
let agentId: string

before(async () => {
  models = await startModelServer()
  service = await startService(models.settings)
  client = await service.account()
  agentId = (await client.request('POST', '/agents', { name: 'Agent' })).body.id
})
after(async () => {
  await service.close()
  await models.close()
})

const at = (id: string, rest = '') => `/agents/${agentId}/sources/${id}${rest}`

/** It reads the database, because API requests count towards the rate limit. */
async function settled(id: string): Promise<{ status: string; error: string | null }> {
  return until('the source is processed', async () => {
    const { db } = service.ctx
    const row = await db
      .selectFrom('sources')
      .select(['status', 'error'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    return (row.status === 'trained' || row.status === 'failed') && row
  })
}

async function add(source: object): Promise<string> {
  const { status, body } = await client.request('POST', `/agents/${agentId}/sources`, source)
  assert.equal(status, 201, JSON.stringify(body))
  await settled(body.id)
  return body.id
}

const TEXT =
  '# Care\n\nWipe it with a dry cloth.\n\n## Bulbs\n\nUse E27 bulbs.\n\n# Prices\n\nHalo M: 69 euros.'

test('a text is returned as it was sent, and as one piece with its headings', async () => {
  const id = await add({ type: 'text', name: 'Lamps', content: TEXT })
  assert.deepEqual((await client.request('GET', at(id, '/content'))).body, {
    content: TEXT,
    questions: null,
    answer: null,
  })
  const { body } = await client.request('GET', at(id, '/text'))
  assert.equal(body.isWhole, true)
  const places = ['# Care', 'dry cloth', '## Bulbs', 'E27', '# Prices', '69 euros'].map((piece) =>
    body.text.indexOf(piece),
  )
  assert.ok(
    places.every((place, i) => place > (places[i - 1] ?? -1)),
    body.text,
  )
  assert.equal(body.text.split('# Care').length, 2)
})

test('questions and their answer are returned', async () => {
  const asked = { questions: ['How long is the warranty?'], answer: 'Five years.' }
  const id = await add({ type: 'qna', name: 'Warranty', ...asked })
  assert.deepEqual((await client.request('GET', at(id, '/content'))).body, { content: null, ...asked })
})

test('each training is recorded, including requested and failed ones', async () => {
  const id = await add({ type: 'text', name: 'Short', content: 'The Halo lamp is blue.' })
  const outcomes = async () => (await client.request('GET', at(id, '/trainings'))).body.data
  assert.deepEqual(
    (await outcomes()).map(({ outcome }: { outcome: string }) => outcome),
    ['live'],
  )
  const again = await client.request('POST', at(id, '/refresh'))
  assert.deepEqual([again.status, again.body.status], [200, 'updated'])
  assert.equal((await settled(id)).status, 'trained')
  assert.equal((await outcomes()).length, 2)

  const broken = await add({ type: 'link', url: 'http://127.0.0.1:9/', linkType: 'individual' })
  const { error } = await settled(broken)
  const { body } = await client.request('GET', at(broken, '/trainings'))
  const [{ outcome, reason, bytes }] = body.data
  assert.deepEqual([outcome, reason, bytes], ['failed', error, null])
})

test('the charset of a text file is shown, and can be chosen and be recognised again', async () => {
  const form = new FormData()
  form.set('name', 'Prices')
  // "Лампа;Цена 100" in windows-1251.
  const saved = Buffer.from('cbe0ece2e03bd6e5ede020313030', 'hex')
  form.set('file', new Blob([saved]), 'prices.csv')
  const sent = await client.raw('POST', `/agents/${agentId}/sources`, { body: form })
  assert.equal(sent.status, 201)
  const { id } = (await sent.json()) as { id: string }
  const read = async () => {
    assert.equal((await settled(id)).status, 'trained')
    const { text } = (await client.request('GET', at(id, '/text'))).body
    return [(await client.request('GET', at(id))).body.metadata.charset, text.includes('Цена 100')]
  }
  assert.deepEqual(await read(), ['windows-1251', true])
  await client.request('PUT', at(id), { charset: 'windows-1252' })
  assert.deepEqual(await read(), ['windows-1252', false])
  await client.request('PUT', at(id), { charset: null })
  assert.deepEqual(await read(), ['windows-1251', true])
  const wrong = await client.request('PUT', at(id), { charset: 'no-such' })
  assert.equal(wrong.status, 400)

  const text = await add({ type: 'text', name: 'No file', content: 'It has none.' })
  assert.equal((await client.request('PUT', at(text), { charset: 'utf-8' })).status, 400)
})

test('a file that is read in part is live, and says what is missing until it is replaced by a whole one', async () => {
  const chart = '<w:p><w:r><w:drawing><c:chart xmlns:c="c" r:id="rId9"/></w:drawing></w:r></w:p>'
  const text = '<w:p><w:r><w:t>Lamps have a warranty of two years.</w:t></w:r></w:p>'
  const upload = async (method: 'POST' | 'PUT', path: string, body: string) => {
    const form = new FormData()
    form.set('name', 'Warranty')
    form.set('file', new Blob([Buffer.from(docxOf(word(body)))]), 'warranty.docx')
    const sent = await client.raw(method, path, { body: form })
    assert.ok(sent.ok, String(sent.status))
    const { id } = (await sent.json()) as { id: string }
    assert.equal((await settled(id)).status, 'trained')
    return id
  }
  const id = await upload('POST', `/agents/${agentId}/sources`, text + chart + chart)
  const expected = [
    {
      kind: 'charts',
      place: null,
      count: 2,
      message: '2 charts or diagrams could not be read. Add what can be seen there as a text.',
    },
  ]
  assert.deepEqual((await client.request('GET', at(id))).body.warnings, expected)
  const { data } = (await client.request('GET', `/agents/${agentId}/sources?name=Warranty`)).body
  assert.deepEqual(data[0].warnings, expected)
  await upload('PUT', at(id), text)
  assert.equal('warnings' in (await client.request('GET', at(id))).body, false)
})

test('parts of an html file that are left out are listed, and can be put back and be left out again', async () => {
  const form = new FormData()
  form.set('name', 'Page')
  const page = '<nav><a href="/a">Our marvellous bulbs</a></nav><main><p>Lamps last for ten years.</p></main>'
  form.set('file', new Blob([page]), 'page.html')
  const sent = await client.raw('POST', `/agents/${agentId}/sources`, { body: form })
  assert.equal(sent.status, 201)
  const { id } = (await sent.json()) as { id: string }
  const read = async () => {
    assert.equal((await settled(id)).status, 'trained')
    const { leftOut, wholePage } = (await client.request('GET', at(id))).body
    const { text } = (await client.request('GET', at(id, '/text'))).body
    return [text.includes('marvellous'), leftOut, wholePage]
  }
  assert.deepEqual(await read(), [false, [{ place: 'navigation', words: 3 }], undefined])
  assert.equal((await client.request('PUT', at(id), { wholePage: true })).body.wholePage, true)
  assert.deepEqual(await read(), [true, undefined, true])
  await client.request('POST', at(id, '/refresh'))
  assert.deepEqual(await read(), [true, undefined, true])
  await client.request('PUT', at(id), { wholePage: false })
  assert.deepEqual(await read(), [false, [{ place: 'navigation', words: 3 }], undefined])
  const text = await add({ type: 'text', name: 'No page', content: 'It has none.' })
  assert.equal((await client.request('PUT', at(text), { wholePage: true })).status, 400)
})

test('at most twenty trainings are kept, newest first', async () => {
  const id = await add({ type: 'text', name: 'Often', content: 'Once.' })
  for (let time = 2; time <= 22; time++) {
    await client.request('PUT', at(id), { content: 'Again. '.repeat(time) })
    await settled(id)
  }
  const { data } = (await client.request('GET', at(id, '/trainings'))).body
  assert.equal(data.length, 20)
  const times = data.map((entry: { at: string }) => entry.at)
  assert.deepEqual(times, times.toSorted().reverse())
})

test('answers that cite a source are listed with the cited passages', async () => {
  const id = await add({ type: 'text', name: 'Returns', content: 'Lamps can be returned within 60 days.' })
  const other = await add({ type: 'text', name: 'Delivery', content: 'Delivery takes two working days.' })
  models.queue.push({ tokens: ['Within 60 days [1].'] })
  const message = 'Within how many days can lamps be returned?'
  const answer = await client.request('POST', `/agents/${agentId}/chat`, { message, stream: false })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const cited = await client.request('GET', at(id, '/citations'))
  assert.equal(cited.status, 200, JSON.stringify(cited.body))
  const { data, searchedMessages } = cited.body
  assert.equal(searchedMessages, 2)
  assert.equal(data.length, 1)
  assert.match(data[0].quote, /60 days/)
  assert.deepEqual((await client.request('GET', at(other, '/citations'))).body.data, [])
})

test('sources that failed or have no text are named, and a source that is removed is not', async () => {
  const id = (await client.request('POST', '/agents', { name: 'Other' })).body.id
  const health = async () => (await client.request('GET', `/agents/${id}/sources/health`)).body
  assert.deepEqual(await health(), { count: 0, size: 0, training: 0, troubled: 0, data: [] })
  const sources: string[] = []
  for (const source of [
    { type: 'text', name: 'Lamps', content: TEXT },
    { type: 'link', linkType: 'individual', name: 'Shop', url: 'http://127.0.0.1:1/' },
  ]) {
    const { status, body } = await client.request('POST', `/agents/${id}/sources`, source)
    assert.equal(status, 201, JSON.stringify(body))
    sources.push(body.id)
  }
  await until('the sources are processed', async () => (await health()).training === 0)
  const { size, ...failed } = await health()
  assert.ok(size > 0)
  const [{ reason, name }] = failed.data
  assert.ok(reason)
  const shop = { id: sources[1], name, problem: 'failed', reason }
  assert.deepEqual(failed, { count: 2, training: 0, troubled: 1, data: [shop] })
  // A website of which every page is left out.
  await service.ctx.db.updateTable('sources').set({ size: 0 }).where('id', '=', sources[0]!).execute()
  assert.deepEqual((await health()).data, [
    shop,
    { id: sources[0], name: 'Lamps', problem: 'empty', reason: null },
  ])
  await client.request('DELETE', `/agents/${id}/sources/${sources[1]}`)
  assert.equal((await health()).troubled, 1)

  assert.equal((await health()).nearLimit, undefined)
  await sql`insert into chunks select (jsonb_populate_record(chunks, jsonb_build_object('id', gen_random_uuid(), 'ordinal', n))).*
    from chunks, generate_series(1, 4000) n where agent_id = ${id}`.execute(service.ctx.db)
  const { embedded, db } = service.ctx
  assert.deepEqual((await health()).nearLimit, embedded ? { passages: 12_003, limit: 16_000 } : undefined)
  assert.match((await describeLargeAgents(db)).join(), new RegExp(`agent ${id} has 12003 passages`))
})
