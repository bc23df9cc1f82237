import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type NotionServer, startNotionServer } from '../../../test/fakes/notion-server.ts'
import { block, fakePage, tableBlock } from '../../../test/fakes/notion-wire.ts'
import { type Client, type Service, startService } from '../../../test/start.ts'
import { placeOfRow } from '../../platform/secrets/sealed-columns.ts'
import { syncSource } from '../training/resync/resync-source.ts'

let service: Service
let client: Client
let notion: NotionServer
let agentId: string

before(async () => {
  notion = await startNotionServer()
  service = await startService({ ALLOWED_PRIVATE_HOSTS: new URL(notion.url).host })
  client = await service.account()
  agentId = await connectedAgent()
})
after(async () => {
  await service.close()
  await notion.close()
})

async function newAgent(owner = client): Promise<string> {
  return (await owner.request('POST', '/agents', { name: 'Agent' })).body.id
}

async function connectedAgent(): Promise<string> {
  const id = await newAgent()
  await connect(id)
  return id
}

async function connect(id: string, accessToken = 'secret-token'): Promise<void> {
  const body = { accessToken, baseUrl: `${notion.url}/` }
  const answer = await client.request('PUT', `/agents/${id}/pages-connection`, body)
  assert.deepEqual([answer.status, answer.body], [200, { success: true }])
}

const rowOf = (id: string) =>
  service.ctx.db.selectFrom('sources').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

async function settled(id: string) {
  for (;;) {
    const row = await rowOf(id)
    if (row.status === 'trained' || row.status === 'failed') return row
    await wait(50)
  }
}

async function add(pageId: string, agent = agentId): Promise<string> {
  const answer = await client.request('POST', `/agents/${agent}/sources`, { type: 'notionPage', pageId })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.id
}

async function passages(question: string, agent = agentId) {
  const row = await service.ctx.db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', agent)
    .executeTakeFirstOrThrow()
  const where = { id: agent, accountId: row.account_id, knowledgeVersion: row.knowledge_version }
  return (await service.ctx.knowledge.search(where, [question], { limit: 5 })).passages
}

const finds = async (marker: string, agent = agentId): Promise<boolean> =>
  (await passages(`What about ${marker}?`, agent)).some(({ text }) => text.includes(marker))

/** Runs the last attempt of a re-sync, like the weekly job. */
const sync = (sourceId: string) =>
  syncSource(service.ctx, { sourceId }, { isLast: () => true, signal: new AbortController().signal })

const switchOn = async (agent: string): Promise<void> => {
  const answer = await client.request('PUT', `/agents/${agent}/auto-retrain`, { enabled: true })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

const chunksOf = (sourceId: string) =>
  service.ctx.db
    .selectFrom('chunks')
    .select(['heading_path', 'text'])
    .where('source_id', '=', sourceId)
    .orderBy('ordinal')
    .execute()

test('a page with headings, lists, tables, code and toggles becomes passages under their headings', async () => {
  const database = 'dddddddd-0000-4000-8000-000000000001'
  const row = fakePage('Basic', [], {
    properties: {
      Price: { type: 'number', number: 12 },
      Tags: { type: 'multi_select', multi_select: [{ name: 'small' }, { name: 'monthly' }] },
      Until: { type: 'date', date: { start: '2026-01-01', end: '2026-12-31' } },
      Empty: { type: 'rich_text', rich_text: [] },
      Odd: { type: 'rollup', rollup: { type: 'array' } },
    },
  })
  notion.databases.set(database, { title: 'Plans', rows: [row, fakePage('Large', [])] })
  const page = fakePage('Handbook', [
    block('paragraph', 'Welcome to the handbook of quillon.'),
    block('heading_1', 'Shipping'),
    block('bulleted_list_item', 'Parcels leave on Mondays', [
      block('bulleted_list_item', 'In summer on Tuesdays', [block('paragraph', 'Until September')]),
    ]),
    block('bulleted_list_item', 'Letters leave daily'),
    block('numbered_list_item', 'Pack it'),
    block('numbered_list_item', 'Send it'),
    block('to_do', 'Tell the customer', undefined, { checked: true }),
    block('heading_2', 'Prices'),
    tableBlock([
      ['Size', 'Price'],
      ['Small', '4 EUR'],
      ['Large', '9 EUR'],
    ]),
    block('code', 'parley send\n\n--now', undefined, { language: 'shell' }),
    block('toggle', 'Who pays customs?', [
      block('heading_3', 'Within the union'),
      block('paragraph', 'Nobody has to.'),
    ]),
    block('quote', 'After the toggle the section goes on.'),
    block('heading_1', 'Plans', [
      { id: database, type: 'child_database', content: { title: 'All plans' } },
      {
        id: 'eeeeeeee-0000-4000-8000-000000000001',
        type: 'child_database',
        content: { title: 'Not shared' },
      },
    ]),
    { id: 'eeeeeeee-0000-4000-8000-000000000002', type: 'unsupported', content: {} },
    { id: 'eeeeeeee-0000-4000-8000-000000000003', type: 'divider', content: {} },
  ])
  notion.pages.set(page.id, page)
  notion.pageSize = 10
  const id = await add(page.id)
  const source = await settled(id)
  notion.pageSize = 100
  assert.equal(source.error, null)
  assert.deepEqual(
    (await chunksOf(id)).map(({ heading_path, text }) => [heading_path, text]),
    [
      [['Handbook'], 'Welcome to the handbook of quillon.'],
      [
        ['Handbook', 'Shipping'],
        '- Parcels leave on Mondays\n- In summer on Tuesdays\nUntil September\n- Letters leave daily\n1. Pack it\n2. Send it\n- Tell the customer (done)',
      ],
      [
        ['Handbook', 'Shipping', 'Prices'],
        'Size: Small; Price: 4 EUR\nSize: Large; Price: 9 EUR\n\nparley send\n--now',
      ],
      [['Handbook', 'Shipping', 'Prices', 'Who pays customs?', 'Within the union'], 'Nobody has to.'],
      [['Handbook', 'Shipping', 'Prices'], 'After the toggle the section goes on.'],
      [
        ['Handbook', 'Plans'],
        'All plans\n\nName: Basic; Price: 12; Tags: small, monthly; Until: 2026-01-01 – 2026-12-31\nName: Large\n\nNot shared',
      ],
    ],
  )
  const read = (await client.request('GET', `/agents/${agentId}/sources/${id}`)).body
  assert.deepEqual(
    [read.name, read.type, read.metadata, read.status],
    ['Handbook', 'notionPage', null, 'trained'],
  )
  assert.ok(read.size > 0)
  assert.equal(
    (await passages('quillon handbook'))[0]?.url,
    `https://workspace.example/${page.id.replaceAll('-', '')}`,
  )
  assert.ok(notion.requests.every(({ headers }) => headers['notion-version'] === '2022-06-28'))
  const summary = (await client.request('GET', `/agents/${agentId}/sources/summary`)).body
  assert.deepEqual(summary.notionPages, { count: 1, size: read.size })
})

test('a database is read as a page of its rows', async () => {
  const id = 'dddddddd-0000-4000-8000-000000000002'
  notion.databases.set(id, { title: 'Branches', rows: [fakePage('Yarrowby', []), fakePage('Zennor', [])] })
  const source = await settled(await add(id))
  assert.deepEqual([source.status, source.name], ['trained', 'Branches'])
  assert.ok(await finds('Yarrowby'))
  // The rows of a database change without an edit of the page.
  assert.equal(source.origin_modified, null)
})

test("the workspace's pages are listed page by page", async () => {
  const agent = await newAgent()
  const list = (query = '') => client.request('GET', `/agents/${agent}/pages-connection/pages${query}`)
  assert.deepEqual([(await list()).status, (await list()).body.error.code], [409, 'PAGES_NOT_CONNECTED'])
  await connect(agent)
  for (let i = 0; i < 5; i++) {
    const page = fakePage(`Listed ${i}`, [], { edited: `2026-02-0${i + 1}T00:00:00.000Z` })
    notion.pages.set(page.id, page)
  }
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const { status, body } = await list(`?limit=2&query=listed${cursor ? `&cursor=${cursor}` : ''}`)
    assert.equal(status, 200, JSON.stringify(body))
    seen.push(...body.data.map(({ title }: { title: string }) => title))
    assert.equal(body.pagination.hasMore, body.pagination.cursor !== null)
    cursor = body.pagination.cursor
    if (cursor) assert.equal((await list(`?cursor=${cursor}`)).body.error.code, 'VALIDATION_INVALID_CURSOR')
  } while (cursor)
  assert.deepEqual(seen, ['Listed 4', 'Listed 3', 'Listed 2', 'Listed 1', 'Listed 0'])
  const [first] = (await list('?limit=1&query=listed')).body.data
  assert.deepEqual(Object.keys(first).sort(), ['id', 'title', 'updatedAt', 'url'])

  notion.tokens.add('another-token')
  await connect(agent, 'another-token')
  notion.tokens.delete('another-token')
  const refused = await list()
  assert.deepEqual([refused.status, refused.body.error.code], [502, 'PAGES_CONNECTION_FAILED'])
  assert.match(refused.body.error.message, /token/)
  await connect(agent)
  notion.faults.push({ broken: '{"results":' }, { broken: '[]' })
  assert.equal((await list()).body.error.code, 'PAGES_CONNECTION_FAILED')
  assert.equal((await client.request('DELETE', `/agents/${agent}/pages-connection`)).status, 200)
  assert.equal((await list()).body.error.code, 'PAGES_NOT_CONNECTED')
})

test('the token is stored encrypted and sent nowhere else', async () => {
  const { access_token } = await service.ctx.db
    .selectFrom('pages_connections')
    .select('access_token')
    .where('agent_id', '=', agentId)
    .executeTakeFirstOrThrow()
  assert.ok(!access_token.includes('secret-token'))
  assert.equal(
    await service.ctx.secrets.decrypt(access_token, placeOfRow('pages_connections', agentId, 'access_token')),
    'secret-token',
  )
  for (const baseUrl of [
    'pages',
    'ftp://example.com',
    'https://u:p@example.com',
    'https://example.com/?a=b',
  ]) {
    const body = { accessToken: 'x', baseUrl }
    const answer = await client.request('PUT', `/agents/${agentId}/pages-connection`, body)
    assert.ok(answer.body.error.details.baseUrl, baseUrl)
  }
  const agent = await newAgent()
  const body = { accessToken: 'x', baseUrl: 'http://169.254.169.254/latest' }
  const put = (sent: object) => client.request('PUT', `/agents/${agent}/pages-connection`, sent)
  assert.equal((await put(body)).body.error.code, 'PAGES_CONNECTION_FAILED')
  const refused = await put({ accessToken: '...', baseUrl: notion.url })
  assert.equal(refused.body.error.details.accessToken, 'The workspace rejected this token.')
  const list = await client.request('GET', `/agents/${agent}/pages-connection/pages`)
  assert.equal(list.body.error.code, 'PAGES_NOT_CONNECTED')
})

test('a source needs a connection and a page id, and exists once', async () => {
  const page = fakePage('Once', [block('paragraph', 'Once upon a time.')])
  notion.pages.set(page.id, page)
  const post = (pageId: string, agent = agentId) =>
    client.request('POST', `/agents/${agent}/sources`, { type: 'notionPage', pageId })
  assert.equal((await post(page.id, await newAgent())).body.error.code, 'PAGES_NOT_CONNECTED')
  assert.ok((await post('no id')).body.error.details.pageId)
  await add(`https://workspace.example/Once-${page.id.replaceAll('-', '')}?pvs=4`)
  const again = await post(page.id.toUpperCase())
  assert.deepEqual([again.status, again.body.error.code], [409, 'SOURCE_DUPLICATE'])
})

test('a given name stays, and a default name follows the title', async () => {
  const agent = await connectedAgent()
  const page = fakePage('First title', [block('paragraph', 'The marker aldermoor is here.')])
  notion.pages.set(page.id, page)
  const id = await add(page.id, agent)
  assert.equal((await settled(id)).name, 'First title')
  await switchOn(agent)
  Object.assign(page, { title: 'Second title', edited: '2026-01-06T10:00:00.000Z' })
  await sync(id)
  assert.equal((await settled(id)).name, 'Second title')
  await client.request('PUT', `/agents/${agent}/sources/${id}`, { name: 'Mine' })
  Object.assign(page, { title: 'Third title', edited: '2026-01-07T10:00:00.000Z' })
  await sync(id)
  assert.equal((await settled(id)).name, 'Mine')
})

test('a re-sync reads only edited pages, and trains only what has changed', async () => {
  const agent = await connectedAgent()
  const page = fakePage('Changing', [block('paragraph', 'The marker birchvale is first.')])
  notion.pages.set(page.id, page)
  const id = await add(page.id, agent)
  await settled(id)
  await switchOn(agent)
  const asked = async (): Promise<string[]> => {
    notion.requests.length = 0
    await sync(id)
    return notion.requests.map(({ path }) => path.split('/')[2] ?? '')
  }
  assert.deepEqual(await asked(), ['pages'])
  assert.equal((await rowOf(id)).content_version, 1)
  page.edited = '2026-01-06T10:00:00.000Z'
  assert.deepEqual(await asked(), ['pages', 'blocks'])
  assert.equal((await rowOf(id)).content_version, 1, 'the same text is the same version')
  page.blocks = [block('paragraph', 'The marker cedarholt is second.')]
  page.edited = '2026-01-07T10:00:00.000Z'
  await sync(id)
  assert.deepEqual([(await settled(id)).content_version, await finds('birchvale', agent)], [2, false])
  assert.ok(await finds('cedarholt', agent))

  // Times have a resolution of one minute, so a page that was just edited may be edited again in the same one.
  page.edited = new Date().toISOString()
  page.blocks = [block('paragraph', 'The marker dunmere is third.')]
  await sync(id)
  assert.equal((await settled(id)).origin_modified, null)
})

test('a page that is no longer shared, or in the trash, leaves the answers and can return', async () => {
  const agent = await connectedAgent()
  const page = fakePage('Leaving', [block('paragraph', 'The marker elmscott will leave.')])
  const other = fakePage('Staying', [block('paragraph', 'The marker fernworth stays.')])
  for (const one of [page, other]) notion.pages.set(one.id, one)
  const id = await add(page.id, agent)
  await settled(id)
  await settled(await add(other.id, agent))
  await switchOn(agent)
  page.inTrash = true
  await sync(id)
  assert.match((await rowOf(id)).error ?? '', /trash/)
  assert.equal(await finds('elmscott', agent), false)
  page.inTrash = false
  await sync(id)
  assert.equal((await settled(id)).status, 'trained')
  assert.ok(await finds('elmscott', agent))
  notion.pages.delete(page.id)
  await sync(id)
  assert.match((await rowOf(id)).error ?? '', /not shared/)
  assert.deepEqual([await finds('elmscott', agent), await finds('fernworth', agent)], [false, true])
})

test('without the connection, or with a rejected token, the live version stays', async () => {
  const agent = await connectedAgent()
  const page = fakePage('Kept', [block('paragraph', 'The marker gorseley stays.')])
  notion.pages.set(page.id, page)
  const id = await add(page.id, agent)
  await settled(id)
  await switchOn(agent)
  notion.tokens.delete('secret-token')
  await sync(id)
  notion.tokens.add('secret-token')
  const { status, error } = await rowOf(id)
  assert.equal(status, 'failed')
  assert.match(error ?? '', /token.*earlier version remains in use/)
  assert.ok(await finds('gorseley', agent))
  await sync(id)
  assert.deepEqual([(await rowOf(id)).status, (await rowOf(id)).error], ['trained', null])
  await client.request('DELETE', `/agents/${agent}/pages-connection`)
  assert.ok(await finds('gorseley', agent))
})

test('a clone keeps its pages and the connection that updates them', async () => {
  const agent = await connectedAgent()
  const page = fakePage('Cloned', [block('paragraph', 'The marker hazelbrook is cloned.')])
  notion.pages.set(page.id, page)
  await settled(await add(page.id, agent))
  const { id: copy } = (await client.request('POST', `/agents/${agent}/clone`)).body
  assert.ok(await finds('hazelbrook', copy))
  assert.equal((await client.request('GET', `/agents/${copy}/pages-connection/pages`)).status, 200)
})
