import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { utils, write } from '@e965/xlsx'
import { sql } from 'kysely'
import { factOfPage, makeFactPdf } from '../../../test/fixtures/make-pdf.ts'
import { makePptx } from '../../../test/fixtures/make-pptx.ts'
import { type Answer, type Client, type Service, startService } from '../../../test/start.ts'
import { plans } from '../../accounts/plans/plans.ts'
import { isUnavailable } from '../../platform/db/connections/database-errors.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import { resumeTraining } from '../jobs.ts'
import { trainSource } from '../training/train-source.ts'
import { folderOf, keepFile, sweepSourceFiles } from './files.ts'

let service: Service
let client: Client
let agentId: string
let site: Server
let siteUrl: string
/** The responses of the local site by path. */
const pages = new Map<string, { status: number; body: string }>()

before(async () => {
  site = createServer((request, response) => {
    const page = pages.get(request.url ?? '') ?? { status: 404, body: 'nothing' }
    response.writeHead(page.status, { 'content-type': 'text/html' }).end(page.body)
  })
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as AddressInfo
  siteUrl = `http://127.0.0.1:${port}`
  service = await startService({ ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` })
  client = await service.account()
  agentId = await newAgent()
})
after(async () => {
  await service.close()
  site.close()
})

const newAgent = async (owner = client): Promise<string> =>
  (await owner.request('POST', '/agents', { name: 'Agent' })).body.id

async function settled(id: string): Promise<{ status: string; error: string | null }> {
  for (;;) {
    const row = await service.ctx.db
      .selectFrom('sources')
      .select(['status', 'error'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    if (row.status === 'trained' || row.status === 'failed') return row
    await wait(50)
  }
}

/** Waits until the sources of other tests are trained. */
async function nothingInProcess(): Promise<void> {
  const inProcess = () =>
    service.ctx.db
      .selectFrom('sources')
      .select('id')
      .where('status', 'in', ['untrained', 'updated'])
      .executeTakeFirst()
  while (await inProcess()) await wait(50)
}

async function add(body: object, agent = agentId, owner = client): Promise<string> {
  const answer = await owner.request('POST', `/agents/${agent}/sources`, body)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  assert.equal(answer.body.status, 'untrained')
  return answer.body.id
}

async function upload(
  fields: Record<string, string>,
  files: [string, string | Uint8Array, string][],
  agent = agentId,
  path = '',
  owner = client,
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const [field, bytes, filename] of files) form.append(field, new Blob([bytes as never]), filename)
  const response = await owner.raw(path ? 'PUT' : 'POST', `/agents/${agent}/sources${path}`, { body: form })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

async function search(question: string, agent = agentId) {
  const row = await service.ctx.db
    .selectFrom('agents')
    .selectAll()
    .where('id', '=', agent)
    .executeTakeFirstOrThrow()
  const where = { id: agent, accountId: row.account_id, knowledgeVersion: row.knowledge_version }
  return (await service.ctx.knowledge.search(where, [question], { limit: 5 })).passages
}
const passages = async (question: string, agent = agentId): Promise<string[]> =>
  (await search(question, agent)).map(({ text }) => text)
const finds = async (marker: string, agent = agentId): Promise<boolean> =>
  (await passages(`What about ${marker}?`, agent)).some((text) => text.includes(marker))

const filesKept = (): string[] =>
  existsSync(service.ctx.filesDir)
    ? readdirSync(service.ctx.filesDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
    : []

test('every kind of source goes live and is found', async () => {
  pages.set('/help', {
    status: 200,
    body: '<html><title>Help</title><article><h1 id="days">Shipping</h1><p>The marker quillfeather ships on Mondays, always.</p></article></html>',
  })
  const ids = [
    await add({ type: 'text', name: 'Text', content: 'The marker brindlewick opens at nine.' }),
    await add({
      type: 'qna',
      name: 'Q',
      questions: ['How long is the warranty?', 'Warranty?'],
      answer: 'The marker copperlace lasts two years.',
    }),
    await add({ type: 'link', url: `${siteUrl}/help#top`, linkType: 'individual' }),
  ]
  const files: [string, string][] = [
    ['notes.txt', 'The marker dapplewood is plain text.'],
    ['notes.md', '# Markers\n\nThe marker emberfall is markdown.'],
    [
      'page.html',
      '<html><body><article><p>The marker fernhollow is a page of its own, and long enough to be read.</p></article></body></html>',
    ],
    ['table.csv', 'name,colour\ngallowmere,green\n'],
  ]
  for (const [name, text] of files) {
    const { status, body } = await upload({ name }, [['file', text, name]])
    assert.equal(status, 201, JSON.stringify(body))
    assert.equal(body.metadata.filename, name)
    ids.push(body.id)
  }
  for (const id of ids) assert.deepEqual(await settled(id), { status: 'trained', error: null })
  for (const marker of [
    'quillfeather',
    'brindlewick',
    'dapplewood',
    'emberfall',
    'fernhollow',
    'gallowmere',
  ]) {
    assert.ok(await finds(marker), marker)
  }
  const link = (await client.request('GET', `/agents/${agentId}/sources/${ids[2]}`)).body
  assert.deepEqual([link.name, link.metadata], [`${siteUrl}/help`, { type: 'individual' }])
  assert.ok(link.size > 0)
  const chunk = await service.ctx.db
    .selectFrom('chunks')
    .select(['heading_path', 'anchor'])
    .where('source_id', '=', ids[2]!)
    .executeTakeFirst()
  assert.deepEqual(chunk, { heading_path: ['Help', 'Shipping'], anchor: 'days' })
  const answer = await client.request('POST', `/agents/${agentId}/chat`, {
    message: 'warranty?',
    stream: false,
  })
  assert.equal(answer.body.data.parts[0].text.includes('The marker copperlace lasts two years.'), true)
  assert.equal(answer.body.data.metadata.sources[0].id, ids[1])

  const summary = (await client.request('GET', `/agents/${agentId}/sources/summary`)).body
  assert.deepEqual(
    [summary.texts.count, summary.qnas.count, summary.links.count, summary.files.count],
    [1, 1, 1, 4],
  )
  assert.equal(summary.shouldRetrain, false)
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.status, 'trained')
})

test('a PDF of 30 pages is answered from, with page and heading', async () => {
  const agent = await newAgent()
  const { body } = await upload({ name: 'Manual' }, [['file', makeFactPdf(30), 'manual.pdf']], agent)
  assert.deepEqual(await settled(body.id), { status: 'trained', error: null })
  for (const page of [1, 17, 30]) {
    const fact = factOfPage(page)
    const found = (await search(fact, agent)).find(({ text }) => text.includes(fact))
    assert.deepEqual([found?.page, found?.headingPath], [page, [`Chapter ${page}: Device ${page}`]])
  }
})

test('a workbook and a presentation are uploaded and used in answers with their rows, slides and names', async () => {
  const agent = await newAgent()
  const book = utils.book_new()
  const rows = [
    ['Lamp', 'Price', 'Stock'],
    ['Kestrel', '49 EUR', '12'],
    ['Heron', '89 EUR', '3'],
  ]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Prices')
  const sheet = await upload(
    { name: 'Prices' },
    [['file', write(book, { type: 'buffer', bookType: 'xlsx' }), 'prices.xlsx']],
    agent,
  )
  const slides = makePptx([
    { title: 'Autumn', lines: ['Nothing is new.'] },
    { title: 'Winter', lines: ['The heron lamp is discontinued.'] },
  ])
  const talk = await upload({ name: 'Talk' }, [['file', slides, 'talk.pptx']], agent)
  for (const { status, body } of [sheet, talk]) {
    assert.equal(status, 201)
    assert.deepEqual(await settled(body.id), { status: 'trained', error: null })
  }
  const [row] = await search('What is the price of the Kestrel?', agent)
  assert.match(row!.text, /Lamp: Kestrel; Price: 49 EUR; Stock: 12/)
  const slide = (await search('Is the heron lamp discontinued?', agent)).find(({ text }) =>
    /discontinued/.test(text),
  )
  assert.deepEqual([slide?.page, slide?.headingPath], [2, ['Winter']])
})

test('the earlier version is used until the new one is live, also when the new one fails', async () => {
  pages.set('/changing', {
    status: 200,
    body: '<article><p>The marker harrowgate is the first version of this page.</p></article>',
  })
  const text = await add({ type: 'text', name: 'T', content: 'The marker ironvale is first.' })
  await settled(text)
  const changed = await client.request('PUT', `/agents/${agentId}/sources/${text}`, {
    content: 'The marker juniperus is second.',
  })
  assert.equal(changed.body.status, 'updated')
  await settled(text)
  assert.deepEqual([await finds('ironvale'), await finds('juniperus')], [false, true])

  const { body } = await upload({ name: 'F' }, [['file', 'The marker kestrelby is here.', 'f.txt']])
  await settled(body.id)
  const broken = await upload({}, [['file', '%PDF-1.7 nothing more', 'f.pdf']], agentId, `/${body.id}`)
  assert.equal(broken.status, 200, JSON.stringify(broken.body))
  const after = await settled(body.id)
  assert.equal(after.status, 'failed')
  assert.match(after.error ?? '', /PDF/)
  assert.ok(await finds('kestrelby'))
  assert.equal((await client.request('GET', `/agents/${agentId}`)).body.status, 'failed')
  await client.request('DELETE', `/agents/${agentId}/sources/${body.id}`)
})

test('a deleted source is missing from the very next answer, and its file is deleted', async () => {
  const { body } = await upload({ name: 'D' }, [['file', 'The marker lindenmoor will vanish.', 'd.txt']])
  await settled(body.id)
  const file = (
    await service.ctx.db
      .selectFrom('sources')
      .select('content')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
  ).content.file!
  assert.ok(await finds('lindenmoor'))
  const deleted = await client.request('DELETE', `/agents/${agentId}/sources/${body.id}`)
  assert.equal(deleted.body.status, 'deleted')
  const answer = await client.request('POST', `/agents/${agentId}/chat`, {
    message: 'What is lindenmoor?',
    stream: false,
  })
  assert.doesNotMatch(answer.body.data.parts[0].text, /will vanish/)
  assert.equal(
    (await client.request('GET', `/agents/${agentId}/sources/${body.id}`)).body.error.code,
    'SOURCE_NOT_FOUND',
  )
  while (filesKept().includes(file.split('/').at(-1)!)) await wait(50)
})

test('a file that is missing on the disk can be replaced', async () => {
  const { body } = await upload({ name: 'L' }, [['file', 'The marker larkmoor.', 'l.txt']])
  await settled(body.id)
  const { content } = await service.ctx.db
    .selectFrom('sources')
    .select('content')
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow()
  await rm(join(service.ctx.filesDir, content.file!))
  const replaced = await upload({}, [['file', 'The marker mossgate.', 'l.txt']], agentId, `/${body.id}`)
  assert.equal(replaced.status, 200, JSON.stringify(replaced.body))
  await settled(body.id)
  assert.ok(await finds('mossgate'))
})

test('unreadable sources fail with a readable sentence', async () => {
  const cases: [object, RegExp][] = [
    [{ type: 'link', url: `${siteUrl}/missing`, linkType: 'individual' }, /404/],
    [
      { type: 'link', url: 'http://169.254.169.254/latest/meta-data', linkType: 'individual' },
      /not|private|allowed/i,
    ],
    [{ type: 'link', url: 'http://127.0.0.1:9/', linkType: 'individual' }, /not|private|allowed/i],
    [{ type: 'link', url: 'http://[::ffff:a9fe:a9fe]/', linkType: 'individual' }, /not|private|allowed/i],
  ]
  const agent = await newAgent()
  for (const [body, pattern] of cases) {
    const { status, error } = await settled(await add(body, agent))
    assert.equal(status, 'failed')
    assert.match(error ?? '', pattern)
  }
  assert.equal((await client.request('GET', `/agents/${agent}`)).body.status, 'untrained')
})

test('each invalid field is rejected by its path', async () => {
  const text = { type: 'text', name: 'x', content: 'x' }
  const qna = { type: 'qna', name: 'x', questions: ['x'], answer: 'x' }
  const link = { type: 'link', url: 'https://example.com', linkType: 'individual' }
  const wrong: [object, string][] = [
    [{}, 'type'],
    [{ type: 'file' }, 'type'],
    [{ ...text, name: '' }, 'name'],
    [{ ...text, name: 'x'.repeat(256) }, 'name'],
    [{ ...text, content: '  ' }, 'content'],
    [{ ...text, content: 'x'.repeat(1_048_577) }, 'content'],
    [{ ...text, content: 'a\0b' }, 'content'],
    [{ ...qna, questions: [] }, 'questions'],
    [{ ...qna, questions: Array(51).fill('x') }, 'questions'],
    [{ ...qna, answer: '' }, 'answer'],
    [{ ...qna, questions: ['x'.repeat(2_001)] }, 'questions.0'],
    [{ ...qna, answer: 'x'.repeat(100_001) }, 'answer'],
    [{ ...link, url: 'example' }, 'url'],
    [{ ...link, url: 'ftp://example.com' }, 'url'],
    [{ ...link, url: 'https://u:p@example.com' }, 'url'],
    [{ ...link, linkType: 'page' }, 'linkType'],
    [{ ...link, slowScraping: 'yes' }, 'slowScraping'],
  ]
  for (const [body, path] of wrong) {
    const { status, body: answer } = await client.request('POST', `/agents/${agentId}/sources`, body)
    assert.deepEqual([status, answer.error.code], [400, 'VALIDATION_INVALID_BODY'], path)
    assert.ok(answer.error.details[path], `${path}: ${JSON.stringify(answer.error.details)}`)
  }
  const longest = { name: 'n'.repeat(255), questions: ['q'.repeat(2_000)], answer: 'a'.repeat(100_000) }
  const whole = await client.request('GET', `/agents/${agentId}/sources/${await add({ ...qna, ...longest })}`)
  assert.deepEqual([whole.status, whole.body.name], [200, longest.name])
  await settled(whole.body.id)
  const id = await add(text)
  await settled(id)
  const strange = await client.request('PUT', `/agents/${agentId}/sources/${id}`, {
    answer: 'x',
    type: 'qna',
  })
  assert.deepEqual(Object.keys(strange.body.error.details), ['answer'])
  assert.equal(strange.headers.get('x-parley-ignored-fields'), 'type')
  const other = await client.request('PUT', `/agents/${agentId}/sources/${id}`, { answer: 'x' })
  assert.deepEqual(Object.keys(other.body.error.details), ['answer'])
  const before = (await client.request('GET', `/agents/${agentId}/sources/${id}`)).body
  assert.deepEqual((await client.request('PUT', `/agents/${agentId}/sources/${id}`, {})).body, before)
})

test('a change of a page accepts the options of its creation, and it remains a single page', async () => {
  pages.set('/one', { status: 200, body: '<p>One page, and nothing but this page.</p>' })
  const options = { excludePaths: ['/x'], includeOnlyPaths: ['/y'], slowScraping: true }
  const id = await add({ type: 'link', url: `${siteUrl}/one`, linkType: 'individual', ...options })
  await settled(id)
  const put = (body: object) => client.request('PUT', `/agents/${agentId}/sources/${id}`, body)
  const before = (await client.request('GET', `/agents/${agentId}/sources/${id}`)).body
  const same = await put({ linkType: 'individual', ...options })
  assert.deepEqual([same.status, same.body], [200, before])
  for (const linkType of ['crawl', 'sitemap']) {
    const { status, body } = await put({ linkType })
    assert.deepEqual([status, body.error.code], [400, 'VALIDATION_INVALID_BODY'])
    assert.match(body.error.details.linkType, /cannot become a website/)
  }
  assert.deepEqual(Object.keys((await put({ name: 'x', url: siteUrl })).body.error.details), ['name'])
  const text = await add({ type: 'text', name: 'T', content: 'Some text.' })
  const refused = await client.request('PUT', `/agents/${agentId}/sources/${text}`, {
    linkType: 'individual',
    slowScraping: true,
  })
  assert.deepEqual(Object.keys(refused.body.error.details), ['linkType', 'slowScraping'])
})

test('the same page cannot be added twice', async () => {
  pages.set('/once', { status: 200, body: '<p>Once</p>' })
  const owner = await service.account()
  const agent = await newAgent(owner)
  const link = { type: 'link', url: `${siteUrl}/once`, linkType: 'individual' }
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => owner.request('POST', `/agents/${agent}/sources`, link)),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
  assert.equal(answers.find(({ status }) => status === 409)?.body.error.code, 'SOURCE_DUPLICATE')
})

test('a rejected upload says why and leaves no file behind', async () => {
  const owner = await service.account()
  const agent = await newAgent(owner)
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const kept = filesKept().length
  const cases: [Record<string, string>, [string, string | Uint8Array, string][], number, string][] = [
    [{ name: 'x' }, [], 400, 'file'],
    [{}, [['file', 'x', 'x.txt']], 400, 'name'],
    [{ name: 'x'.repeat(256) }, [['file', 'x', 'x.txt']], 400, 'name'],
    [
      { name: 'x' },
      [
        ['file', 'x', 'x.txt'],
        ['file', 'y', 'y.txt'],
      ],
      400,
      'file',
    ],
    [{ name: 'x' }, [['document', 'x', 'x.txt']], 400, 'file'],
    [{ name: 'x' }, [['file', '', 'x.txt']], 400, 'file'],
    [{ name: 'x' }, [['file', png, 'x.pdf']], 422, 'SOURCE_UNSUPPORTED_TYPE'],
    [{ name: 'x' }, [['file', 'x', 'x.exe']], 422, 'SOURCE_UNSUPPORTED_TYPE'],
    [
      { name: 'x' },
      [['file', Buffer.alloc(20 * 1_048_576 + 1, 97), 'x.txt']],
      413,
      'VALIDATION_BODY_TOO_LARGE',
    ],
  ]
  for (const [fields, files, status, what] of cases) {
    const answer = await upload(fields, files, agent, '', owner)
    assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`)
    assert.ok(
      answer.body.error.code === what || answer.body.error.details?.[what],
      JSON.stringify(answer.body),
    )
  }
  // Office stores a document with a password in an OLE file.
  const locked = Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ])
  const { status, body } = await upload({ name: 'x' }, [['file', locked, 'prices.xlsx']], agent, '', owner)
  assert.deepEqual(
    [status, body.error.code, body.error.message],
    [422, 'SOURCE_UNSUPPORTED_TYPE', '"prices.xlsx" is protected by a password. Remove it and upload again.'],
  )
  const said = async (content: string, name: string) =>
    (await upload({ name: 'x' }, [['file', content, name]], agent, '', owner)).body.error.message
  assert.equal(await said('x', 'terms.pdf'), '"terms.pdf" is damaged, or its content is no PDF.')
  const usable = 'send a pdf, docx, doc, xlsx, pptx, txt, md, html, csv, png, jpg, webp or tiff file.'
  assert.equal(await said('x', 'setup.EXE'), `.exe files cannot be used: ${usable}`)
  assert.equal(await said('x', 'README'), `Files without an extension cannot be used: ${usable}`)
  assert.equal(filesKept().length, kept)
  const longest = await upload(
    { name: 'x'.repeat(255) },
    [['file', 'x', `${'x'.repeat(251)}.txt`]],
    agent,
    '',
    owner,
  )
  assert.deepEqual([longest.status, longest.body.name], [201, 'x'.repeat(255)])
  await settled(longest.body.id)
})

test("the plan's training size is exact, also under concurrency", async () => {
  const owner = await service.account({ plan: 'standard' })
  const agent = await newAgent(owner)
  const most = 40 * 1_048_576
  await service.ctx.db
    .insertInto('sources')
    .values({
      id: newId(),
      account_id: owner.accountId,
      agent_id: agent,
      type: 'text',
      status: 'trained',
      content: json({ text: 'x' }),
      size: most - 250,
    })
    .execute()
  const body = { type: 'text', name: 'x', content: 'x'.repeat(100) }
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => owner.request('POST', `/agents/${agent}/sources`, body)),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 2)
  const refused = answers.find(({ status }) => status !== 201)
  assert.deepEqual([refused?.status, refused?.body.error.code], [422, 'SOURCE_SIZE_LIMIT_EXCEEDED'])
})

test('the list filters by type and by part of the name, and pages return each source once', async () => {
  const owner = await service.account()
  const agent = await newAgent(owner)
  const made = ['50% off', 'under_score', 'Plain'].map((name) => ({ name, type: 'text' as const }))
  for (let i = 0; i < 22; i++) made.push({ name: `Bulk ${i}`, type: 'text' })
  const time = new Date('2026-02-01T00:00:00.001Z')
  await service.ctx.db
    .insertInto('sources')
    .values(
      made.map(({ name, type }) => ({
        id: newId(),
        account_id: owner.accountId,
        agent_id: agent,
        name,
        type,
        status: 'trained' as const,
        content: json({ text: 'x' }),
        created_at: time,
      })),
    )
    .execute()
  const names = async (query: string) =>
    (await owner.request('GET', `/agents/${agent}/sources?${query}`)).body.data.map(
      ({ name }: { name: string }) => name,
    )
  assert.deepEqual(await names('name=0%25'), ['50% off'])
  assert.deepEqual(await names('name=R_S'), ['under_score'])
  assert.deepEqual(await names('name=plain&type=text,qna'), ['Plain'])
  assert.deepEqual(await names('type=qna'), [])
  assert.equal((await owner.request('GET', `/agents/${agent}/sources?type=film`)).status, 400)
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await owner.request(
      'GET',
      `/agents/${agent}/sources?limit=4${cursor && `&cursor=${cursor}`}`,
    )
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.pagination.cursor ?? ''
  } while (cursor)
  assert.deepEqual([seen.length, new Set(seen).size], [25, 25])
})

test('jobs may run late, twice, or for deleted sources', async () => {
  const id = await add({ type: 'text', name: 'x', content: 'The marker moonbury is one.' })
  await settled(id)
  await client.request('PUT', `/agents/${agentId}/sources/${id}`, {
    content: 'The marker nettlecombe is two.',
  })
  await settled(id)
  const attempt = { isLast: () => true, signal: new AbortController().signal }
  await trainSource(service.ctx, { sourceId: id, version: 1 }, attempt)
  await trainSource(service.ctx, { sourceId: newId(), version: 1 }, attempt)
  assert.deepEqual([await finds('moonbury'), await finds('nettlecombe')], [false, true])
  await nothingInProcess()
  await service.ctx.db.updateTable('sources').set({ status: 'updated' }).where('id', '=', id).execute()
  assert.equal(await resumeTraining(service.ctx), 1)
  assert.equal((await settled(id)).status, 'trained')
})

test('a training during which the database was away does not fail its source', async () => {
  const { db } = service.ctx
  const id = await add({ type: 'text', name: 'x', content: 'The marker hollowmere is one.' })
  await settled(id)
  await db.updateTable('sources').set({ status: 'updated' }).where('id', '=', id).execute()
  // Unchanged chunks are kept, and nothing would be written.
  await db.updateTable('chunks').set({ text: 'Earlier.' }).where('source_id', '=', id).execute()
  await sql`create function refuse_row() returns trigger language plpgsql as
    $$ begin raise 'starting up' using errcode = '57P03'; end $$`.execute(db)
  await sql`create trigger refuse_chunks before insert on chunks execute function refuse_row()`.execute(db)
  const attempt = { isLast: (error: unknown) => !isUnavailable(error), signal: new AbortController().signal }
  await assert.rejects(trainSource(service.ctx, { sourceId: id, version: 1 }, attempt), isUnavailable)
  await sql`drop function refuse_row cascade`.execute(db)
  const { status } = await db
    .selectFrom('sources')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  assert.equal(status, 'updated')
  assert.equal(await resumeTraining(service.ctx), 1)
  assert.equal((await settled(id)).status, 'trained')
})

test('a document that repeatedly crashes its reader is not tried again, and says why', async () => {
  const { db } = service.ctx
  const { body } = await upload({ name: 'Deadly' }, [['file', makeFactPdf(500), 'deadly.pdf']])
  const row = () => db.selectFrom('sources').selectAll().where('id', '=', body.id).executeTakeFirstOrThrow()
  const killed = new Set<number>()
  while ((await row()).status === 'untrained') {
    if ((await row()).reading_process !== null)
      for (const pid of service.ctx.extractor.processes()) {
        process.kill(pid, 'SIGKILL')
        killed.add(pid)
      }
    await wait(20)
  }
  assert.equal((await row()).status, 'failed')
  // Two processes read the document. A third may have been killed while it waited for work.
  assert.ok(killed.size === 2 || killed.size === 3, `${killed.size} processes were killed`)
  assert.match((await row()).error ?? '', /repeatedly crashed the reader/)
  assert.equal((await client.request('GET', `/agents/${agentId}/sources/${body.id}`)).body.status, 'failed')

  // A process has died while it was reading, which is noticed at the next starts.
  const started = async (strikes: number) => {
    await db
      .updateTable('sources')
      .set({ status: 'untrained', reading_process: newId(), reading_epoch: 1, reading_strikes: strikes })
      .where('id', '=', body.id)
      .execute()
    await resumeTraining(service.ctx)
    return settled(body.id)
  }
  assert.equal((await started(4)).status, 'failed', 'the third death')
  assert.equal((await started(0)).status, 'trained', 'the first one')
  assert.deepEqual([(await row()).reading_process, (await row()).reading_strikes], [null, 0])
})

test('a clone answers at once and outlives the original, files too', async () => {
  const original = await newAgent()
  await settled(await add({ type: 'text', name: 'x', content: 'The marker oakenshaw is copied.' }, original))
  const { body } = await upload(
    { name: 'F' },
    [['file', 'The marker pebblemarsh is copied, too.', 'f.txt']],
    original,
  )
  await settled(body.id)
  const clone = (await client.request('POST', `/agents/${original}/clone`)).body.id
  await client.request('DELETE', `/agents/${original}`)
  assert.ok((await finds('oakenshaw', clone)) && (await finds('pebblemarsh', clone)))
  const sources = await service.ctx.db
    .selectFrom('sources')
    .selectAll()
    .where('agent_id', '=', clone)
    .execute()
  assert.deepEqual(
    sources.map(({ status }) => status),
    ['trained', 'trained'],
  )
  const kept = sources
    .find(({ content }) => content.file)
    ?.content.file?.split('/')
    .at(-1)
  await wait(700)
  assert.ok(filesKept().includes(kept!))
})

test('unreferenced files are deleted an hour later, others stay', async () => {
  const { db, filesDir } = service.ctx
  await upload({ name: 'kept' }, [['file', 'The marker larkspire stays.', 'kept.txt']])
  const kept = filesKept()
  const known = await db
    .selectFrom('sources')
    .select(['account_id', 'agent_id', 'id'])
    .where('type', '=', 'file')
    .execute()
  const { account_id, agent_id, id } = known.at(-1)!
  const longAgo = new Date(Date.now() - 2 * 3_600_000)
  const keep = async (source: string): Promise<string> => {
    const path = join(filesDir, newId())
    await writeFile(path, 'x')
    return join(
      filesDir,
      await keepFile(filesDir, folderOf({ accountId: account_id, agentId: agent_id }, source), { path }),
    )
  }
  for (const source of [id, newId()]) {
    await utimes(await keep(source), longAgo, longAgo)
    await keep(source)
  }
  assert.equal(await sweepSourceFiles(db, filesDir), 2)
  assert.equal(filesKept().length, kept.length + 2)
  assert.ok(kept.every((name) => filesKept().includes(name)))
})

test("an account cannot add sources while its plan's limit of untrained sources is reached", async () => {
  const client = await service.account({ plan: 'standard' })
  const { body: agent } = await client.request('POST', '/agents', { name: 'Agent' })
  const waiting = Array.from({ length: plans.standard.unfinishedSources }, () => ({
    id: newId(),
    account_id: client.accountId,
    agent_id: agent.id as string,
    type: 'text' as const,
    name: 'Waits',
    content: json({ text: 'x' }),
    size: 1,
    status: 'untrained' as const,
  }))
  const { db } = service.ctx
  await db.insertInto('sources').values(waiting).execute()
  const add = () =>
    client.raw('POST', `/agents/${agent.id}/sources`, {
      body: JSON.stringify({ type: 'text', name: 'One more', content: 'The marker oakwing stays.' }),
      headers: { 'content-type': 'application/json' },
    })
  const refused = await add()
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.match(await refused.text(), /250 sources of the account are waiting for training/)
  await db.updateTable('sources').set({ status: 'trained' }).where('id', '=', waiting[0]!.id).execute()
  assert.equal((await add()).status, 201)
})

test('the search test shows what a question finds and why, and why a source is missing', async () => {
  const own = await service.account()
  const agent = `/agents/${(await own.request('POST', '/agents', { name: 'Shop' })).body.id}`
  const add = async (name: string, content: string): Promise<string> => {
    const { id } = (await own.request('POST', `${agent}/sources`, { type: 'text', name, content })).body
    await settled(id)
    return id
  }
  const warranty = await add('Warranty', '# Warranty\n\nThe warranty of every bicycle lasts three years.')
  const parking = await add('Parking', '# Parking\n\nCars stand behind the shop, for two hours.')
  const chunks = (await own.request('GET', `${agent}/sources/${warranty}/chunks`)).body
  assert.equal(chunks.pagination.total, chunks.data.length)
  assert.match(chunks.data[0].text, /three years/)
  const ask = async (expectedSourceId: string, limit = 8) =>
    (
      await own.request('POST', `${agent}/retrieval-test`, {
        question: 'How long is the warranty of a bicycle?',
        expectedSourceId,
        limit,
      })
    ).body
  const found = await ask(warranty)
  const [first] = found.passages
  assert.deepEqual([first.place, first.sourceId, found.isFound, found.missing], [1, warranty, true, null])
  assert.deepEqual(first.signals, { words: 1, vectors: null })
  const { missing } = await ask(parking, 1)
  assert.ok(['no_signal', 'further_down', 'unlikely'].includes(missing.reason), JSON.stringify(missing))
  const { body } = await own.request('POST', `${agent}/sources`, {
    type: 'text',
    name: 'x',
    content: '\u00a0',
  })
  if (body.id) {
    const untold = await ask(body.id)
    assert.ok(['not_live', 'no_text'].includes(untold.missing.reason), JSON.stringify(untold.missing))
  }
  assert.equal((await ask(agent)).error.code, 'SOURCE_NOT_FOUND')
})

test('the title of a document is above its headings, unless it is one of them or the name of the source', async () => {
  const LONG = 'Long '.repeat(50).trim()
  const cases: [title: string, name: string, headings: string[]][] = [
    ['Winter prices', 'Prices', ['Winter prices', 'Lamps']],
    ['Prices', 'Prices', ['Lamps']],
    ['Lamps', 'Prices', ['Lamps']],
    [LONG, 'Prices', ['Lamps']],
  ]
  const own = (await client.request('POST', '/agents', { name: 'Titles' })).body.id
  for (const [title, name, headings] of cases) {
    const content = `---\ntitle: ${title}\n---\n# Lamps\n\nA lamp costs ${title.length} euros.`
    const { id } = (await client.request('POST', `/agents/${own}/sources`, { type: 'text', name, content }))
      .body
    assert.equal((await settled(id)).status, 'trained')
    const { body } = await client.request('GET', `/agents/${own}/sources/${id}/chunks`)
    assert.deepEqual(
      body.data.map(({ headingPath }: { headingPath: string[] }) => headingPath),
      [headings],
    )
  }
})
