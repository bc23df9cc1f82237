import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeDocx } from '../../../test/fixtures/make-docx.ts'
import { factOfPage, makeFactPdf, makePdf } from '../../../test/fixtures/make-pdf.ts'
import { makeZip } from '../../../test/fixtures/make-zip.ts'
import { extractDocument } from './extract-document.ts'
import { ExtractFailure, type ExtractFailureCode } from './extract-failure.ts'
import type { DocumentType, Section } from './extracted-document.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))
const extract = (type: DocumentType, content: string | Uint8Array, contentType?: string) =>
  extractDocument({ type, bytes: typeof content === 'string' ? Buffer.from(content) : content, contentType })
const outline = (sections: Section[]) =>
  sections.map(({ headingPath, text }) => [headingPath.join(' > '), text])

async function failsWith(
  code: ExtractFailureCode,
  type: DocumentType,
  content: string | Uint8Array,
): Promise<void> {
  await assert.rejects(extract(type, content), (error) => {
    assert.ok(error instanceof ExtractFailure, String(error))
    assert.equal(error.code, code, error.message)
    assert.match(error.message, /^[A-Z].*\.$/)
    return true
  })
}

test('a PDF keeps its pages, headings and facts; page numbers go', async () => {
  const { title, sections, bytes } = await extract('pdf', makeFactPdf(30, { title: 'Device manual' }))
  assert.equal(title, 'Device manual')
  assert.equal(sections.length, 30)
  for (const [index, { page, headingPath, text }] of sections.entries()) {
    assert.equal(page, index + 1)
    assert.deepEqual(headingPath, [`Chapter ${page}: Device ${page}`])
    assert.ok(text.includes(factOfPage(index + 1)))
    assert.ok(text.includes('how it is installed, used'), 'lines of a paragraph are joined')
    assert.ok(text.includes('still connected to the mains'), 'a word split at the line end is whole')
    assert.doesNotMatch(text, /\/ 30/)
  }
  assert.equal(
    bytes,
    sections.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  )
})

test('a PDF line end leaves real hyphens alone, and a sentence over two pages in one piece', async () => {
  const { title, sections } = await extract(
    'pdf',
    makePdf([
      {
        heading: 'Über Gebühren für Zahlungen in €',
        lines: [
          'Every long-term contract is cheaper than two short ones; a long-',
          'term contract of the on-',
          'and offline shops “costs” 5 €. The fee is due',
        ],
      },
      { heading: '', lines: ['on the first day of the month. Late payers get a letter.'] },
    ]),
  )
  assert.equal(title, 'Über Gebühren für Zahlungen in €')
  assert.deepEqual(
    sections.map(({ page, text }) => [page, text]),
    [
      [
        1,
        'Every long-term contract is cheaper than two short ones; a long-term contract of the on- and offline shops ' +
          '“costs” 5 €. The fee is due on the first day of the month.',
      ],
      [2, 'Late payers get a letter.'],
    ],
  )
})

test('a running title stays once, a heading without text is kept', async () => {
  const pages = ['One', 'Two', 'Three', 'Four'].map((name) => ({
    heading: '',
    lines: ['ACME manual', `${name} is here.`],
  }))
  const { sections } = await extract('pdf', makePdf([...pages, { heading: 'The end', lines: [] }]))
  assert.equal(sections.filter(({ text }) => text.includes('ACME')).length, 1)
  assert.deepEqual(sections.at(-1), { headingPath: ['The end'], page: 5, text: 'The end' })
})

test('a PDF that cannot be read says why', async () => {
  await failsWith('encrypted', 'pdf', makePdf([{ heading: 'A', lines: ['b'] }], { locked: true }))
  await failsWith('no_text', 'pdf', makePdf([{ heading: '', lines: [] }]))
  await failsWith('broken', 'pdf', makeFactPdf(3).subarray(0, 900))
  await failsWith('broken', 'pdf', '%PDF-1.7 nothing more')
})

test('a PDF of scanned pages is told from one with text, whatever the scanner stamped on it', async () => {
  const scans = Array.from({ length: 6 }, () => ({ heading: '', lines: ['Scan by office 7'] }))
  await failsWith('no_text', 'pdf', makePdf(scans))
  const { sections } = await extract('pdf', makePdf([{ heading: '', lines: ['Hi'] }]))
  assert.equal(sections[0]!.text, 'Hi')
})

test('a PDF with Asian character codes of which the tables are missing is refused, and not read in part', async () => {
  const latin = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
  const asian =
    '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /90ms-RKSJ-H /DescendantFonts [<< /Type /Font ' +
    '/Subtype /CIDFontType0 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 6 >> >>] >>'
  const pdf = Buffer.from(makePdf([{ heading: '', lines: ['text'] }])).toString('latin1')
  assert.ok(pdf.includes(latin))
  await failsWith('unknown_encoding', 'pdf', Buffer.from(pdf.replace(latin, asian), 'latin1'))
})

test('a Word file keeps headings, lists and tables', async () => {
  const { title, sections } = await extract(
    'docx',
    makeDocx([
      { heading: 'Handbook', level: 1 },
      { paragraph: 'Intro <b> & more.' },
      { heading: 'Prices', level: 2 },
      { item: 'one' },
      { item: 'two' },
      {
        table: [
          ['Name', 'Price'],
          ['Lamp', '3'],
          ['Shade', ''],
        ],
        header: true,
      },
      {
        table: [
          ['Weight', '3 kg'],
          ['Height', '4 m'],
        ],
      },
    ]),
  )
  assert.equal(title, 'Handbook')
  assert.deepEqual(outline(sections), [
    ['Handbook', 'Intro <b> & more.'],
    ['Handbook > Prices', '- one\n- two\n\nName: Lamp; Price: 3\nName: Shade\n\nWeight | 3 kg\nHeight | 4 m'],
  ])
  assert.equal((await extract('docx', makeDocx([{ paragraph: 'x' }], { title: 'A & B' }))).title, 'A & B')
})

test('a Word file that is damaged, empty, or unpacks without end is refused', async () => {
  await failsWith('broken', 'docx', makeDocx([{ paragraph: 'x' }]).subarray(0, 700))
  await failsWith('broken', 'docx', makeZip({ 'word/document.xml': '<w:document' }))
  await failsWith('no_text', 'docx', makeDocx([]))
  const bomb = makeZip({ 'word/document.xml': Buffer.alloc(150_000_000) }, 1000)
  await failsWith('too_large', 'docx', bomb)
  await failsWith('broken', 'doc', 'anything')
})

test('a web page gives its article and nothing around it', async () => {
  const { title, sections } = await extract('html', fixture('article.html'))
  assert.equal(title, 'Returns and refunds')
  assert.deepEqual(
    sections.map(({ headingPath }) => headingPath),
    [
      ['Returns and refunds'],
      ['Returns and refunds', 'How to send a lamp back'],
      ['Returns and refunds', 'Refund times'],
    ],
  )
  const text = sections.map((section) => section.text).join('\n')
  assert.match(text, /at any post office\.\nKeep the receipt/)
  assert.match(text, /^- Parcels up to 10 kg/m)
  assert.match(text, /^Method: Card; Working days: 3\nMethod: Bank transfer; Working days: 5$/m)
  assert.match(text, /^GET \/refunds\/42\nstatus: paid$/m)
  assert.doesNotMatch(text, /link|secretTracking|another script|color: red/)
})

test('a page without a main part gives its whole body; charsets are heeded', async () => {
  const { sections, title } = await extract(
    'html',
    '<title>T</title><div>Open <b>daily</b></div><div>9 to 5</div>',
  )
  assert.deepEqual([title, outline(sections)], ['T', [['', 'Open daily\n\n9 to 5']]])
  for (const page of [
    '<html><title>T</title><p>Open all day</p>',
    '<!doctype html><html><head><title>T</title><p>Open all day',
    '<!doctype html><html><head><title>T</title></head><p>Open all day</p></html>',
    '<!doctype html><title>T</title><body><p>Open all day',
    '<html><head><title>T</title><body><svg><title>S</title></svg><p>Open all day',
  ]) {
    const found = await extract('html', page)
    assert.deepEqual([found.title, outline(found.sections)], ['T', [['', 'Open all day']]], page)
  }
  const cyrillic = Buffer.concat([Buffer.from('<p>'), Buffer.from([0xcf, 0xf0, 0xe8]), Buffer.from('</p>')])
  assert.equal((await extract('html', cyrillic, 'text/html; charset=windows-1251')).sections[0]!.text, 'При')
  await failsWith('no_text', 'html', '<html><body><div id="app"></div><script>run()</script></body></html>')
})

test('Markdown loses its syntax and keeps its structure', async () => {
  const { title, sections } = await extract('md', fixture('handbook.md'))
  assert.equal(title, 'Team handbook')
  assert.deepEqual(outline(sections), [
    ['', 'Welcome to the team. Read the rules first.'],
    ['Holidays', 'Everyone has 28 days of holiday. Ask in the #holidays channel, two weeks before.'],
    [
      'Holidays > Carry-over',
      '1. At most five days carry over.\n2. They expire at the end of March.\n\n' +
        'Country: Norway; Days: 25\nCountry: Austria; Days: 30\n\n# not a heading\nholidays request --days 3',
    ],
    ['Holidays > Old style', 'Snake_case_names and 2 * 3 * 4 stay as they are. A map\n\nQuoted advice.'],
  ])
  const tricky = await extract(
    'md',
    'A `**b**` \\*c\\* ***d*** <https://e.f/> [g][1] ~~h~~\n- [x] done\n- open',
  )
  assert.equal(tricky.sections[0]!.text, 'A **b** *c* d https://e.f/ g h\n- done\n- open')
})

test('CSV rows become lines of named values', async () => {
  const { sections } = await extract('csv', fixture('prices.csv'))
  assert.deepEqual(outline(sections), [
    [
      '',
      'Artikel: Lampe "Nord"; Preis in €: 19,90; Lagerort: Halle 3\nArtikel: Schirm; groß; Preis in €: 7,50\n' +
        'Artikel: Kabel; Preis in €: 2,00; Lagerort: Halle 1 Regal 9',
    ],
  ])
  assert.equal((await extract('csv', '1,2\n3,4')).sections[0]!.text, '1 | 2\n3 | 4')
  await failsWith('no_text', 'csv', '\n,,\n')
})

test('plain text keeps its lines, but not those an editor broke', async () => {
  const wrapped =
    'The quick brown fox jumps over the lazy dog and runs far\naway over the hills until nobody sees it.'
  const { sections } = await extract('txt', `${wrapped}\n\nStreet 1\nTown`)
  assert.equal(sections[0]!.text, `${wrapped.replace('\n', ' ')}\n\nStreet 1\nTown`)
  await failsWith('no_text', 'txt', ' \n ')
})
