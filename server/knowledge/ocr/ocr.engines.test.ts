import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startService } from '../../../test/start.ts'
import { websites } from '../../../test/websites.ts'
import { getOcr } from './get-ocr.ts'
import { ocrFolder } from './ocr-folder.ts'

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
