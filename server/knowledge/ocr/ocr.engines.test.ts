import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBesideWebsite } from '../../../test/beside-website.ts'
import { page } from '../../../test/fakes/web-site.ts'
import { startService } from '../../../test/start.ts'
import { websites } from '../../../test/websites.ts'
import { getOcr } from './get-ocr.ts'
import { OCR_PACKAGES, ocrFolder } from './ocr-folder.ts'
import { openPdf } from './ocr-work.ts'
import { drawImages, imagesOf, placesOf } from './picture-of-page.ts'
import { pngOf } from './png.ts'

const scan = new Blob([readFileSync(new URL('./fixtures/scan.pdf', import.meta.url))])

/** The folder of an installation that has it; otherwise npm fetches it. */
const from = process.env.OCR_FOLDER ?? null

test('scanned pages are read once text recognition is installed, up to the limit of pages', async (t) => {
  const service = await startService({ OCR_PAGES: '1' })
  t.after(() => service.close())
  const client = await service.account()
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  const web = websites(service, client, body.id)
  const form = new FormData()
  form.set('name', 'Scan')
  form.set('file', scan, 'scan.pdf')
  const uploaded = await client.raw('POST', web.path, { body: form })
  const { id } = (await uploaded.json()) as { id: string }
  const before = await web.settled(id)
  assert.deepEqual([before.status, await web.finds('netherfield')], ['trained', true])
  assert.match(before.warnings[0].message, /2 pages have no text but pictures \(pages 1–2\)/)

  const { signal } = new AbortController()
  const folder = ocrFolder(service.ctx.config.dataDir)
  assert.deepEqual(await getOcr(folder, { languages: ['eng'], from, signal }), ['eng'])
  await client.request('POST', `${web.path}/${id}/refresh`)
  const after = await web.settled(id)
  assert.deepEqual(after.metadata.pictures, { pages: 2, read: 1 })
  assert.match(after.warnings[0].message, /One page has no text but pictures \(page 2\)/)
  const answer = await web.ask('How many years of warranty has the Aldermoor lamp?')
  assert.match(answer.text, /five years/)
  assert.ok(await web.finds('netherfield'))
})

test('scans that a crawl finds are read once text recognition is installed', async (t) => {
  const { service, site, newAgent, close } = await startBesideWebsite()
  t.after(close)
  const { signal } = new AbortController()
  await getOcr(ocrFolder(service.ctx.config.dataDir), { languages: ['eng'], from, signal })
  const { web } = await newAgent()
  site.pages.set('/', page('Lamps', 'All about them.', ['/scan.pdf']))
  site.pages.set('/scan.pdf', {
    headers: { 'content-type': 'application/pdf' },
    body: new Uint8Array(await scan.arrayBuffer()),
  })
  await web.crawled(`${site.url}/`)
  const answer = await web.ask('How many years of warranty has the Aldermoor lamp?')
  assert.match(answer.text, /five years/)
})

/** Returns the file with its first page three times more, appended to it as an update (ISO 32000-1, 7.5.6). */
function withMorePages(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const first = /5 0 obj\n([\s\S]*?)endobj/.exec(text)?.[1]
  const objects = [
    '2 0 obj\n<< /Type /Pages /Kids [5 0 R 8 0 R 12 0 R 13 0 R 14 0 R 11 0 R] /Count 6 >>\nendobj\n',
    ...[12, 13, 14].map((number) => `${number} 0 obj\n${first}endobj\n`),
  ]
  let [more, table] = ['\n', '']
  for (const object of objects) {
    const number = Number.parseInt(object, 10)
    table += `${number} 1\n${String(text.length + more.length).padStart(10, '0')} 00000 n \n`
    more += object
  }
  const previous = /startxref\s+(\d+)/.exec(text)?.[1]
  const trailer = `trailer << /Size 15 /Root 1 0 R /Prev ${previous} >>`
  more += `xref\n${table}${trailer}\nstartxref\n${text.length + more.length}\n%%EOF\n`
  return Buffer.from(text + more, 'latin1')
}

test('of a file that a crawl finds, a few scanned pages are read, and the others are named', async (t) => {
  const { service, site, newAgent, close } = await startBesideWebsite()
  t.after(close)
  const { signal } = new AbortController()
  await getOcr(ocrFolder(service.ctx.config.dataDir), { languages: ['eng'], from, signal })
  const { web } = await newAgent()
  site.pages.set('/', page('Lamps', 'All about them.', ['/scan.pdf']))
  const body = withMorePages(Buffer.from(await scan.arrayBuffer()))
  site.pages.set('/scan.pdf', { headers: { 'content-type': 'application/pdf' }, body })
  const { id } = await web.crawled(`${site.url}/`)
  const found = (await web.pages(id)).get('/scan.pdf')
  const [warning] = (found as { warnings?: { message: string }[] }).warnings ?? []
  assert.match(warning?.message ?? '', /^2 pages have no text but pictures \(pages 4–5\)\..*upload/)
  assert.match((await web.ask('How many years of warranty has the Aldermoor lamp?')).text, /five years/)
})

test('a picture file says what it needs, and is read once text recognition is installed', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const client = await service.account()
  const { body } = await client.request('POST', '/agents', { name: 'Agent' })
  const web = websites(service, client, body.id)
  const { pdf, operators, close } = await openPdf(new Uint8Array(await scan.arrayBuffer()))
  const page = await pdf.getPage(1)
  const picture = pngOf(drawImages(page, await imagesOf(page, await placesOf(page, operators))))
  await close()
  const form = new FormData()
  form.set('name', 'Photo')
  form.set('file', new Blob([picture]), 'photo.png')
  const { id } = (await (await client.raw('POST', web.path, { body: form })).json()) as { id: string }
  const before = await web.settled(id)
  assert.equal(before.status, 'failed')
  assert.match(before.error, /This is a picture\. Ask your operator to switch on text recognition/)

  const { signal } = new AbortController()
  await getOcr(ocrFolder(service.ctx.config.dataDir), { languages: ['eng'], from, signal })
  await client.request('POST', `${web.path}/${id}/refresh`)
  const after = await web.settled(id)
  assert.deepEqual([after.status, after.metadata.pictures], ['trained', { pages: 1, read: 1 }])
  const answer = await web.ask('How many years of warranty has the Aldermoor lamp?')
  assert.match(answer.text, /five years/)
})

test('what npm installs is what was tested, with its integrity', async (t) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'ocr-')), 'ocr')
  t.after(() => rmSync(join(folder, '..'), { recursive: true }))
  const { signal } = new AbortController()
  assert.deepEqual(await getOcr(folder, { languages: ['eng'], from: null, signal }), ['eng'])
  const packagesIn = (path: string) =>
    Object.entries<{ version: string; integrity: string }>(JSON.parse(readFileSync(path, 'utf8')).packages)
      .filter(([name]) => name.startsWith('node_modules/') && !name.includes('tesseract.js-data'))
      .map(([name, { version, integrity }]) => ({ name, version, integrity }))
  const tested = packagesIn(join(OCR_PACKAGES, 'package-lock.json'))
  assert.ok(tested.length > 1 && tested.every(({ integrity }) => integrity.startsWith('sha512-')))
  assert.deepEqual(packagesIn(join(folder, 'node_modules', '.package-lock.json')), tested)
})
