import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { utils, write } from '@e965/xlsx'
import {
  billionLaughs,
  docxOf,
  nestedDocx,
  pdfOfPages,
  withEnd,
  withEntry,
  word,
} from '../../../test/fixtures/hostile-documents.ts'
import { makeDocx } from '../../../test/fixtures/make-docx.ts'
import { factOfPage, makeFactPdf, makePdf } from '../../../test/fixtures/make-pdf.ts'
import { makePptx } from '../../../test/fixtures/make-pptx.ts'
import { makeZip } from '../../../test/fixtures/make-zip.ts'
import { extractDocument } from './extract-document.ts'
import { ExtractFailure, type ExtractFailureCode } from './extract-failure.ts'
import type { DocumentType, Section } from './extracted-document.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))
const extract = (type: DocumentType, content: string | Uint8Array, contentType?: string) =>
  extractDocument({ type, bytes: typeof content === 'string' ? Buffer.from(content) : content, contentType })
const outline = (sections: Section[]) =>
  sections.map(({ headingPath, text }) => [headingPath.join(' > '), text])

const withSheet = (rows: string[][]) => {
  const book = utils.book_new()
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'A')
  return book
}
const withSlide = (slide: string): Uint8Array =>
  makeZip({
    'ppt/presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId id="1" r:id="a"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels':
      '<Relationships><Relationship Id="a" Type="t" Target="slides/s.xml"/></Relationships>',
    'ppt/slides/s.xml': slide,
  })

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

test('a PDF keeps its pages, headings and facts, but not page numbers', async () => {
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

test('joining lines of a PDF keeps real hyphens, and a sentence across two pages is joined', async () => {
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

test('a running title is kept once, and a heading without text is kept', async () => {
  const pages = ['One', 'Two', 'Three', 'Four'].map((name) => ({
    heading: '',
    lines: ['ACME manual', `${name} is here.`],
  }))
  const { sections } = await extract('pdf', makePdf([...pages, { heading: 'The end', lines: [] }]))
  assert.equal(sections.filter(({ text }) => text.includes('ACME')).length, 1)
  assert.deepEqual(sections.at(-1), { headingPath: ['The end'], page: 5, text: 'The end' })
})

test('an unreadable PDF fails with the reason', async () => {
  await failsWith('encrypted', 'pdf', makePdf([{ heading: 'A', lines: ['b'] }], { locked: true }))
  await failsWith('no_text', 'pdf', makePdf([{ heading: '', lines: [] }]))
  await failsWith('broken', 'pdf', makeFactPdf(3).subarray(0, 900))
  await failsWith('broken', 'pdf', '%PDF-1.7 nothing more')
})

test('a PDF of scanned pages is distinguished from one with text, whatever the scanner stamped on it', async () => {
  const scans = Array.from({ length: 6 }, () => ({ heading: '', lines: ['Scan by office 7'] }))
  await failsWith('no_text', 'pdf', makePdf(scans))
  const { sections } = await extract('pdf', makePdf([{ heading: '', lines: ['Hi'] }]))
  assert.equal(sections[0]!.text, 'Hi')
})

test('a PDF with Asian character codes of which it only names the table is read', async () => {
  const latin = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>'
  const asian =
    '<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /90ms-RKSJ-H /DescendantFonts [<< /Type /Font ' +
    '/Subtype /CIDFontType0 /BaseFont /X /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 6 >> >>] >>'
  const pdf = Buffer.from(makePdf([{ heading: '', lines: ['text'] }])).toString('latin1')
  assert.ok(pdf.includes(latin))
  const { sections } = await extract('pdf', Buffer.from(pdf.replace(latin, asian), 'latin1'))
  assert.equal(sections[0]!.text, 'text')
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

test('the facts in the page headers and footers of a Word file are kept once, without page numbers', async () => {
  const body = '<w:p><w:r><w:t>Fill in the form.</w:t></w:r></w:p>'
  const paragraph = (...cells: string[]) =>
    `<w:p>${cells.map((cell) => `<w:r><w:t xml:space="preserve">${cell}</w:t></w:r>`).join('<w:r><w:tab/></w:r>')}</w:p>`
  const margin = (...rows: string[][]) =>
    `<w:ftr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${rows.map((row) => paragraph(...row)).join('')}</w:ftr>`
  const footer = margin(['Huber GmbH, Hauptstraße 5, 1010 Wien', 'Page 1 of 3'], ['Version 3', '- 2 -'])
  const parts = {
    'word/footer1.xml': footer,
    'word/footer2.xml': footer,
    'word/header1.xml': margin(['Huber']),
  }
  const { sections } = await extract('docx', docxOf(word(body), parts))
  assert.deepEqual(
    sections.map(({ text }) => text),
    ['Fill in the form.', 'Huber GmbH, Hauptstraße 5, 1010 Wien\nVersion 3\nHuber'],
  )
})

test('a Word file that is damaged, empty, or expands endlessly is rejected', async () => {
  await failsWith('broken', 'docx', makeDocx([{ paragraph: 'x' }]).subarray(0, 700))
  await failsWith('broken', 'docx', makeZip({ 'word/document.xml': '<w:document' }))
  await failsWith('no_text', 'docx', makeDocx([]))
  await failsWith('too_large', 'docx', makeZip({ 'word/document.xml': Buffer.alloc(70_000_000) }))
  await failsWith('broken', 'doc', 'anything')
})

test('the visible sheets of a workbook are read row by row, with displayed values and column names', async () => {
  const book = utils.book_new()
  const prices = utils.aoa_to_sheet([
    ['Prices of 2026'],
    [],
    [null, 'Plan', 'Price', 'Share', 'Since'],
    [null, 'Basic', 3.5, 0.19, 45_658],
    [null, 'Pro', 9, null, null],
    [],
    [null, 'Max', 90, 0.5, 45_659],
    [],
    ['Open from', 'nine to five'],
  ])
  for (const [cell, format] of Object.entries({ C4: '0.00" €"', D4: '0%', D7: '0%', E4: 'yyyy-mm-dd' }))
    prices[cell].z = format
  prices.E7.z = 'm/d/yy'
  utils.book_append_sheet(book, prices, 'Prices')
  const merged = utils.aoa_to_sheet([
    ['Region', 'City'],
    ['North', 'Oslo'],
    [null, 'Bergen'],
  ])
  merged['!merges'] = [{ s: { r: 1, c: 0 }, e: { r: 2, c: 0 } }]
  utils.book_append_sheet(book, merged, 'Sheet1')
  utils.book_append_sheet(book, utils.aoa_to_sheet([['secret margin', '40']]), 'Hidden')
  for (const name of ['Preise 2026', '시트1 (2)'])
    utils.book_append_sheet(book, utils.aoa_to_sheet([[name]]), name)
  book.Workbook = { Sheets: [{}, {}, { Hidden: 1 }] }
  const bytes = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer
  assert.deepEqual(outline((await extract('xlsx', bytes)).sections), [
    [
      'Prices',
      'Prices of 2026\n\nPlan: Basic; Price: 3.50 €; Share: 19%; Since: 2025-01-01\nPlan: Pro; Price: 9\n\n' +
        'Plan: Max; Price: 90; Share: 50%; Since: 2025-01-02\n\nOpen from | nine to five',
    ],
    ['', 'Region: North; City: Oslo\nRegion: North; City: Bergen'],
    ['Preise 2026', 'Preise 2026'],
    ['', '시트1 (2)'],
  ])
  await failsWith('broken', 'xlsx', bytes.subarray(0, 900))
  await failsWith('broken', 'xlsx', withEntry(bytes, 1, 42, 0))
  await failsWith('no_text', 'xlsx', write(withSheet([]), { type: 'buffer', bookType: 'xlsx' }))
  await failsWith('too_large', 'xlsx', makeZip({ 'xl/workbook.xml': Buffer.alloc(70_000_000) }))
})

test('the slides of a presentation are read in order, each as a page, with tables and notes', async () => {
  const slides = [
    { title: 'Lamps & shades', lines: ['Only one line.'] },
    {
      title: 'Care',
      lines: ['Wipe it dry.', 'Never wash it.'],
      table: [
        ['Part', 'Washable'],
        ['Shade', 'no'],
      ],
      notes: 'Show the cloth.',
    },
    { title: 'Not ready', lines: ['Draft'], hidden: true },
  ]
  const { title, sections } = await extract('pptx', makePptx(slides))
  assert.equal(title, 'Lamps & shades')
  assert.deepEqual(sections, [
    { headingPath: ['Lamps & shades'], page: 1, text: 'Only one line.' },
    {
      headingPath: ['Care'],
      page: 2,
      text: '- Wipe it dry.\n- Never wash it.\n\nPart: Shade; Washable: no\n\nShow the cloth.',
    },
  ])
  await failsWith('broken', 'pptx', makeZip({ 'ppt/other.xml': '<a/>' }))
  await failsWith('no_text', 'pptx', makePptx([{}]))
  const deep = `<p:sld>${'<p:grpSp>'.repeat(50_000)}`
  await failsWith('broken', 'pptx', withSlide(deep))
})

test('an archive that contradicts itself is rejected, whatever it claims', async () => {
  const sound = makeDocx([{ paragraph: 'Text' }])
  const lies: Record<string, Uint8Array> = {
    'fewer entries than there are': withEnd(sound, { 8: 2, 10: 2 }),
    'more entries than there are': withEnd(sound, { 8: 60, 10: 60 }),
    'a directory elsewhere': withEnd(sound, { 16: 0 }),
    'an entry that unpacks to more': makeZip({ 'word/document.xml': Buffer.alloc(3_000_000) }, 1000),
    'an entry that unpacks to less': makeZip({ 'word/document.xml': 'x' }, 1000),
    'an entry longer than the file': withEntry(sound, 0, 20, 0x7fffffff),
    'two entries in one place': withEntry(sound, 1, 42, 0),
    'an encrypted entry': withEntry(sound, 0, 8, 0x00080001),
    'an entity that grows': billionLaughs(),
    'elements in elements without end': nestedDocx(200_000),
    'an archive cut short': sound.subarray(0, -30),
  }
  for (const [lie, bytes] of Object.entries(lies))
    await assert.rejects(extract('docx', bytes), { name: 'ExtractFailure', code: 'broken' }, lie)
  const inside = { 'word/media/bomb.zip': makeZip({ bomb: Buffer.alloc(9_000_000) }) }
  const text = '<w:p><w:r><w:t>Text</w:t></w:r></w:p>'
  assert.equal((await extract('docx', docxOf(word(text), inside))).sections[0]!.text, 'Text')
})

test('a PDF with an inconsistent page tree is rejected', async () => {
  await failsWith('no_text', 'pdf', pdfOfPages('3 0 R', 1_000_000))
  await failsWith('too_large', 'pdf', pdfOfPages('3 0 R '.repeat(30_000), 30_000))
  await failsWith('broken', 'pdf', pdfOfPages('2 0 R 2 0 R', 10))
})

test('texts with very many lines or code blocks are read', async () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `${i}`).join('\n')
  assert.equal((await extract('txt', lines)).bytes, lines.length)
  const blocks = '```\na\n```\n'.repeat(60_000)
  assert.equal((await extract('md', blocks)).sections.length, 1)
})

test('the article of a web page is read without its surroundings', async () => {
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

test('a page without a main part is read as a whole, and charsets are respected', async () => {
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

test('boxes between the paragraphs belong to the text, and sidebars that are marked do not', async () => {
  const filler = (n: number) =>
    `<p>${`Paragraph ${n} of the manual says how a lamp is mounted on the wall. `.repeat(6)}</p>`
  const site =
    '<li><a href="/a">Lamps</a></li><li><a href="/b">Shades</a></li><li>All about us and our long history</li>'
  const page = `<html><head><title>Manual</title></head><body><div class="page">
    <aside><p>We have sold lamps since 1950, in the third generation, and love it.</p><ul>${site.repeat(30)}</ul></aside>
    <div class="content"><div class="section"><h1>Mounting</h1>${filler(1)}${filler(2)}
      <div class="sidebar"><p class="title">BACK TO BASICS</p><div class="para">A dowel is a plug of plastic that holds the screw in the wall.</div></div>
      ${filler(3)}<div class="alert alert-danger"><p>Switch the power off before you touch the wires.</p></div>${filler(4)}
      <aside class="tip"><p>With two people it takes half of the time, and nobody falls.</p></aside>${filler(5)}
      <aside class="newsletter"><p>Subscribe to our newsletter for offers every week!</p><form><input name="email"></form></aside>
    </div></div></div></body></html>`
  const text = (await extract('html', page)).sections.map((section) => section.text).join('\n')
  assert.match(text, /A dowel is a plug/)
  assert.match(text, /Switch the power off/)
  assert.match(text, /With two people/)
  assert.doesNotMatch(text, /since 1950|newsletter|Shades/)
})

const sitePage = (body: string, head = ''): string => {
  const header =
    '<header><div class="topbar"><a href="tel:+4315551234">+43 1 555 12 34</a> <a href="/login">Log in</a></div>' +
    '<a href="/">Huber</a><nav><a href="/a">Lamps</a> <a href="/b">Shades</a></nav></header>'
  const footer =
    '<footer><div><h4>Contact</h4><p>Huber GmbH<br>Hauptstraße 5<br>1010 Wien</p><p><a href="tel:+4315551234">01 555 12 34</a> | ' +
    '<a href="mailto:hi@huber.example">hi@huber.example</a></p></div><div><h4>Opening hours</h4><p>Monday to Friday 9 am – 6 pm</p>' +
    '<p>Closed on Sundays</p></div><div><h4>Shop</h4><ul><li><a href="/a">Lamps</a></li><li><a href="/b">Shades</a></li></ul></div>' +
    '<p>© 2026 Huber Lights GmbH · FN 123456a · VAT ATU12345678 · <a href="/imprint">Imprint</a></p></footer>' +
    '<div role="dialog"><p>We use cookies to make this site better for everybody.</p></div>'
  return `<!doctype html><html><head><title>Vouchers</title>${head}</head><body>${header}${body}${footer}</body></html>`
}
const voucher = '<p>A voucher pays for everything in the shop, and for repairs, too.</p>'

test('the contact data of a page header and footer are kept, without links and legal notes', async () => {
  const { sections } = await extract('html', sitePage(`<main><h1>Vouchers</h1>${voucher}</main>`))
  assert.deepEqual(outline(sections), [
    ['Vouchers', 'A voucher pays for everything in the shop, and for repairs, too.'],
    ['Huber Lights GmbH', '+43 1 555 12 34'],
    [
      'Huber Lights GmbH > Contact',
      'Huber GmbH\nHauptstraße 5\n1010 Wien\n\n01 555 12 34 | hi@huber.example',
    ],
    ['Huber Lights GmbH > Opening hours', 'Monday to Friday 9 am – 6 pm\n\nClosed on Sundays'],
    ['Huber Lights GmbH', 'FN 123456a | VAT ATU12345678'],
  ])
  assert.deepEqual(
    sections.map(({ isContact = false }) => isContact),
    [false, true, true, true, true],
  )
  const named = sitePage(
    `<main><h1>Vouchers</h1>${voucher}<p>Call 01 555 12 34.</p></main>`,
    '<meta property="og:site_name" content="Huber">',
  )
  assert.deepEqual(outline((await extract('html', named)).sections)[2], [
    'Huber > Contact',
    'Huber GmbH\nHauptstraße 5\n1010 Wien\n\n01 555 12 34 | hi@huber.example',
  ])
  const unmarked = sitePage(`<div><h1>Vouchers</h1>${voucher.repeat(40)}</div>`)
  assert.match(
    (await extract('html', unmarked)).sections.map(({ text }) => text).join('\n'),
    /Hauptstraße 5.*6 pm.*ATU12345678/s,
  )
})

test('a footer in another script is recognised by its numbers, and one without contact data is left out', async () => {
  const page = (footer: string) =>
    `<main><h1>店</h1><p>毎日営業しています。</p></main><footer>${footer}</footer>`
  const textIn = async (footer: string) =>
    (await extract('html', page(footer))).sections
      .slice(1)
      .map(({ text }) => text)
      .join('\n\n')
  assert.equal(
    await textIn('<p>〒100-0001 東京都千代田区千代田1-1</p><p>電話 03-1234-5678（10時～18時）</p>'),
    '〒100-0001 東京都千代田区千代田1-1\n\n電話 03-1234-5678（10時～18時）',
  )
  assert.equal(await textIn('<p>Mo–Fr 9–17 Uhr</p><p>© 2020–2026 Huber</p>'), 'Mo–Fr 9–17 Uhr')
  assert.equal(await textIn('<p>Made with love since 1950.</p><p>© 2020–2026 Huber</p>'), '')
  assert.equal(await textIn('<p>Updated on 25.11.2026</p><p>Follow us</p>'), '')
})

test('text between the header of a page and its main part is kept, and so is text after it', async () => {
  const notice = '<div class="notice">Christmas is booking up. <a href="tel:015">Ring us</a> first!</div>'
  const hero =
    '<section class="hero"><h1>All about vouchers</h1><p>From 20 €, valid for three years.</p></section>'
  const after = '<section><h2>Cash</h2><p>It cannot be exchanged for cash.</p></section>'
  const more =
    '<section class="related"><h2>Related</h2><p>See also our shades, which are new this year.</p></section>'
  const { sections } = await extract(
    'html',
    sitePage(`${notice}<div>${hero}<main>${voucher}<h2>Sending</h2>${voucher}</main>${more}</div>${after}`),
  )
  const text = 'A voucher pays for everything in the shop, and for repairs, too.'
  assert.deepEqual(outline(sections).slice(0, 5), [
    [
      'All about vouchers',
      `Christmas is booking up. [Ring us](tel:015) first!\n\nFrom 20 €, valid for three years.\n\n${text}`,
    ],
    ['All about vouchers > Sending', text],
    ['All about vouchers > Related', 'See also our shades, which are new this year.'],
    ['All about vouchers > Cash', 'It cannot be exchanged for cash.'],
    ['Huber Lights GmbH', '+43 1 555 12 34'],
  ])
})

test('a reference page keeps terms with definitions, notes in place, readable tables, and its anchors', async () => {
  const { title, sections } = await extract('html', fixture('reference.html'))
  assert.equal(title, 'Options - Press manual')
  const outlined = sections.map(({ headingPath, anchor, text }) => [headingPath.join(' > '), anchor, text])
  const long = 'It waits for the lamp. '.repeat(20).trim()
  assert.deepEqual(outlined, [
    [
      'Options',
      'opts',
      'These are the options.\n\n-v, --verbose: Writes more.\n-q: Quiet. No, really.\n\n' +
        'Note: Only an administrator may do this.\n\nWhat follows a note belongs to its section.\n\nBack to top',
    ],
    ['Options > --wait', 'opt-wait', `${long}\n\n\`\`\`\npress --wait\n  --lamp\n\`\`\``],
    [
      'Prices',
      'sec-prices',
      'Prices of a year\n\nPlan: Basic; Price Month: 3 €; Price Year: 30 €\nPlan: Basic; Price Month: 4 €; Price Year: 40 €\n' +
        'Abroad | Plan: Pro; Price Month: 9 €, 8 €; Price Year: Cards Cash\n\n3. Open the lid.\n4. Close it.\n- Gently.',
    ],
  ])
})

test('a note laid out as a table is read as a note, and spanning cells appear once', async () => {
  const note =
    '<table><tr><td rowspan="2"><img src="tip.png"></td><th>Tipp</th></tr><tr><td colspan="2"><p>Gut schütteln.</p><p>Kühl lagern.</p></td></tr></table>'
  const plain = '<table><tr><td>Oil</td><td>4 l</td></tr><tr><td colspan="2">Ask before.</td></tr></table>'
  const { sections } = await extract('html', `<h1>A</h1><p>Lead.</p>${note}${plain}`)
  assert.equal(sections[0]!.text, 'Lead.\n\nTipp: Gut schütteln.\n\nKühl lagern.\n\nOil | 4 l\nAsk before.')
})

test('a page that consists of links is read as it is', async () => {
  const { sections } = await extract('html', '<nav><a href="/a">Lamps</a> <a href="/b">Shades</a></nav>')
  assert.equal(sections[0]!.text, 'Lamps Shades')
})

test('Markdown spans lines, notes stay in place, and code in lists stays code', async () => {
  const note =
    '## Note\n\nKeep calm.\n\nStill here.\n\n> [!WARNING]\n> Hot surface.\n\n!!! tip "Faster"\n    Use the cache.'
  const steps = '1. Do this:\n    ```sh\n    run  it\n      --x\n    ```\n2. Then that.'
  const { sections } = await extract(
    'md',
    `# A\n\nSet \`max\nsize\` to **ten\nor more**.\n\n${note}\n\n:::danger\nBang.\n:::\n\n${steps}`,
  )
  assert.deepEqual(outline(sections), [
    [
      'A',
      'Set `max size` to **ten or more**.\n\nNote: Keep calm.\n\nStill here.\n\nWarning: Hot surface.\n\nFaster: Use the cache.\n\n' +
        'Danger: Bang.\n\n1. Do this:\n```sh\nrun  it\n  --x\n```\n2. Then that.',
    ],
  ])
})

test('unlabelled directives and entity spaces are removed from Markdown', async () => {
  const { sections } = await extract('md', 'Sizes&nbsp;: `a&nbsp;b`\n\n::example{id=1 width=375}\n\nThree.')
  assert.equal(sections[0]!.text, 'Sizes : `a&nbsp;b`\n\nThree.')
})

test('running heads of a PDF are removed, and its tables keep their columns', async () => {
  const prices = ['Plan\tPrice a month\tUsers', 'Basic\t3 EUR\t5', 'Pro\t\t50', 'Max\t9 EUR']
  const pages = ['Setup', 'Setup', 'Setup', 'Care', 'Care', 'Care', 'Prices'].map((chapter, index) => ({
    heading: '',
    lines: [
      'ACME manual',
      '',
      `What is said of ${chapter} on sheet number ${index} of this manual.`,
      ...(chapter === 'Prices'
        ? ['These hold for a year:', '', ...prices, '', 'And no more.']
        : ['1. Open it.', '2. Close it.']),
      `\t${chapter} | ${index + 1} of 7`,
    ],
  }))
  const { sections } = await extract('pdf', makePdf(pages))
  assert.match(
    sections[0]!.text,
    /^ACME manual\n\nWhat is said of Setup on sheet number 0 of this manual.\n1. Open it.\n2. Close it.$/,
  )
  assert.match(sections[5]!.text, /^What is said of Care .* manual.\n1. Open it.\n2. Close it.$/)
  assert.match(
    sections[6]!.text,
    /year:\n\nPlan: Basic; Price a month: 3 EUR; Users: 5\nPlan: Pro; Users: 50\nPlan: Max; Price a month: 9 EUR\n\nAnd no more\./,
  )
})

test('two columns of a PDF are terms and not a table with a header, unless the header looks different', async () => {
  const keys = ['C-b\tmove back one character', 'C-f\tmove forward', 'C-a\tmove to the start']
  const textOf = async (lines: string[]) =>
    (await extract('pdf', makePdf([{ heading: '', lines }]))).sections[0]!.text
  assert.equal(await textOf(keys), keys.join('\n').replaceAll('\t', ' | '))
  assert.equal(
    await textOf(['*Key\tEffect', ...keys]),
    'Key: C-b; Effect: move back one character\nKey: C-f; Effect: move forward\nKey: C-a; Effect: move to the start',
  )
  assert.equal(
    await textOf(['Size\tPrice', 'Small\t3 EUR', 'Large\t5 EUR']),
    'Size: Small; Price: 3 EUR\nSize: Large; Price: 5 EUR',
  )
  assert.equal(
    await textOf(['Term\tMeaning', 'Lead\tsomebody who may buy', 'Churn\tcustomers who leave']),
    'Term: Lead; Meaning: somebody who may buy\nTerm: Churn; Meaning: customers who leave',
  )
})

test('a bold line above text is a heading of a PDF, but not a bold sentence, a bold term or a bold paragraph', async () => {
  const { sections } = await extract(
    'pdf',
    makePdf([
      {
        heading: 'Questions',
        lines: [
          '*How long does the shipping to countries outside of the',
          '*European Union take?',
          'Seven days for most countries, because the customs office opens each of the parcels.',
          '',
          '*Returns',
          'Within 30 days of the delivery, and free of charge.',
          '*Write to us before you send it.',
          'We send you a label that you print and stick on the parcel, so that it finds its way.',
          '',
          '*This paragraph is printed in bold',
          '*because it has been so important',
          '*to the lawyers of the company',
          'And this is what follows after the paragraph that the lawyers wanted in bold.',
        ],
      },
    ]),
  )
  assert.deepEqual(
    sections.map(({ headingPath }) => headingPath),
    [
      ['Questions', 'How long does the shipping to countries outside of the European Union take?'],
      ['Questions', 'Returns'],
    ],
  )
  assert.match(sections[1]!.text, /Write to us before you send it\.\n?.*This paragraph/s)
})

test('a typeface that is divided among many fonts is one, in tables, headings and paragraphs of a PDF', async () => {
  const { sections } = await extract(
    'pdf',
    makePdf([
      {
        heading: '热水器',
        lines: [
          '额定功率\t一千瓦',
          '热水产量\t十升',
          '净重\t七公斤',
          '',
          '',
          '',
          '*部件\t周期',
          '滤网\t每半年清洗',
          '安全阀\t每月检查',
          '镁棒\t每两年更换',
        ],
      },
      {
        heading: '응급실',
        lines: [
          '밤에는 응급실에서 진료합니다. 목에 걸린 것들을 밀어내',
          '지 마시고 병원으로 오십시오. 오시기 전에 전화하시면 응',
          '급실에서 미리 준비합니다.',
          '',
          '*면회',
          '오후 두 시부터 네 시까지 할 수 있습니다.',
        ],
      },
    ]),
  )
  assert.deepEqual(outline(sections), [
    [
      '热水器',
      '额定功率 | 一千瓦\n热水产量 | 十升\n净重 | 七公斤\n\n' +
        '部件: 滤网; 周期: 每半年清洗\n部件: 安全阀; 周期: 每月检查\n部件: 镁棒; 周期: 每两年更换',
    ],
    [
      '응급실',
      '밤에는 응급실에서 진료합니다. 목에 걸린 것들을 밀어내지 마시고 병원으로 오십시오. ' +
        '오시기 전에 전화하시면 응급실에서 미리 준비합니다.',
    ],
    ['응급실 > 면회', '오후 두 시부터 네 시까지 할 수 있습니다.'],
  ])
})

test('Japanese and Korean lines of a PDF are joined without spaces, but between Korean words', async () => {
  const textOf = async (lines: string[]) =>
    (await extract('pdf', makePdf([{ heading: '', lines }]))).sections[0]!.text
  assert.equal(await textOf(['送迎バスは午後', '3時20', '分に出ます。']), '送迎バスは午後3時20分に出ます。')
  const ragged = [
    '수업은 두 시간 걸리며',
    '작품은 삼 주 후에 찾아가실',
    '수 있습니다. 포장비는',
    '따로 냅니다.',
  ]
  assert.equal(await textOf(ragged), ragged.join(' '))
  const full = ['추가 요금은 현장에서 계산됩니', '다. 예약은 전화로 하시면 됩니', '다.']
  assert.equal(await textOf(full), full.join(''))
})

test('lines that are far apart are joined where a full line ends within a sentence', async () => {
  const lines = ['The parcel is sent by post on the day after', '', 'the order, without any extra cost.']
  const spaced = Buffer.from(makePdf([{ heading: '', lines }])).toString('latin1')
  const bytes = Buffer.from(spaced.replace(' 716 Tm', ' 724 Tm'), 'latin1')
  assert.equal((await extract('pdf', bytes)).sections[0]!.text, lines.filter(Boolean).join(' '))
})

test('bold words that begin a paragraph and fill a line are no heading of a PDF', async () => {
  const { sections } = await extract(
    'pdf',
    makePdf([
      {
        heading: 'Stove',
        lines: [
          '*Black glass after a single day',
          'may be a sign of wood that is too damp.',
          'Dry it for two years.',
          '',
          '*Not to be burnt',
          'pallets, varnished or glued wood, paper and everything else that is not in the list above',
        ],
      },
    ]),
  )
  assert.deepEqual(
    sections.map(({ headingPath }) => headingPath.join(' > ')),
    ['Stove', 'Stove > Not to be burnt'],
  )
  assert.match(sections[0]!.text, /^Black glass after a single day may be a sign/)
})

test('the first of two short columns of words is no header', async () => {
  const rows = ['City\tfree', 'Suburbs\tcosts 20 EUR', 'Elsewhere\tnot delivered']
  const { sections } = await extract('pdf', makePdf([{ heading: '', lines: rows }]))
  assert.equal(sections[0]!.text, rows.join('\n').replaceAll('\t', ' | '))
})

test('code in a PDF keeps its lines and columns, and a letter from a typewriter is not code', async () => {
  const code = ['`for file in *; do', '`    wc "$file"', '`done', '', '`echo ready']
  const prose = [
    'This loop counts the words of each file and is written like this:',
    '',
    ...code,
    '',
    'And then?',
  ]
  const { sections } = await extract('pdf', makePdf([{ heading: '', lines: prose }]))
  assert.match(
    sections[0]!.text,
    /like this:\n\n```\nfor file in \*; do\n {4}wc "\$file"\ndone\necho ready\n```\n\nAnd then\?$/,
  )
  const command = await extract(
    'pdf',
    makePdf([{ heading: '', lines: ['To start it again, type', '`lamp restart', 'The light goes on.'] }]),
  )
  assert.equal(command.sections[0]!.text, 'To start it again, type lamp restart\n\nThe light goes on.')
  const letter = ['`Dear customer, your lamp has been', '`repaired and can be fetched.']
  const typed = await extract('pdf', makePdf([{ heading: '', lines: letter }]))
  assert.equal(typed.sections[0]!.text, 'Dear customer, your lamp has been repaired and can be fetched.')
})

test('radicals of Chinese characters are read as the characters, in every format', async () => {
  const { sections } = await extract('txt', '鎌は⾼校⽣以上、⻑い⾬⼾は10‒18時。コード‧リール')
  assert.equal(sections[0]!.text, '鎌は高校生以上、長い雨戸は10–18時。コード・リール')
  const chinese = await extract('html', '<h1>热⽔器</h1><p>⻔和⻛机，⽤⼾请看说明。</p>')
  assert.deepEqual(outline(chinese.sections), [['热水器', '门和风机，用户请看说明。']])
  assert.equal(chinese.title, '热水器')
  assert.equal((await extract('md', '請⽤⼾說明。')).sections[0]!.text, '請用戶說明。')
})

test('Markdown syntax is removed and the structure kept', async () => {
  const { title, sections } = await extract('md', fixture('handbook.md'))
  assert.equal(title, 'Team handbook')
  assert.deepEqual(outline(sections), [
    ['', 'Welcome to the **team**. Read [the rules](https://example.com/rules) first.'],
    ['Holidays', 'Everyone has 28 days of holiday. Ask in the `#holidays` channel, two weeks before.'],
    [
      'Holidays > Carry-over',
      '1. At most five days carry over.\n2. They expire at the end of March.\n\n' +
        'Country: Norway; Days: 25\nCountry: Austria; Days: 30\n\n```sh\n# not a heading\nholidays request --days 3\n```',
    ],
    ['Holidays > Old style', 'Snake_case_names and 2 * 3 * 4 stay as they are. A map\n\nQuoted advice.'],
  ])
  const tricky = await extract(
    'md',
    'A `**b**` \\*c\\* ***d*** <https://e.f/> [g][1] ~~h~~\n- [x] done\n- open',
  )
  assert.equal(tricky.sections[0]!.text, 'A `**b**` *c* **d** https://e.f/ [g][1] h\n\n- done\n- open')
})

test('links in Markdown keep their targets if others can follow them', async () => {
  const cases: [written: string, kept: string][] = [
    ['[the **form**](/forms/a_b?x=1&y=2 "Form")', '[the **form**](https://shop.example/forms/a_b?x=1&y=2)'],
    [
      '[this](../b) and [that](https://other.example/c_(d))',
      '[this](https://shop.example/b) and [that](https://other.example/c_%28d%29)',
    ],
    [
      '[write](mailto:a@shop.example) or [call](tel:+4912)',
      '[write](mailto:a@shop.example) or [call](tel:+4912)',
    ],
    ['[up](#top), [run](javascript:alert(1)), [file](file:///etc/passwd)', 'up, run, file'],
    ['[me](https://user:pass@evil.example/)', 'me'],
    [
      '[guide][G], [guide][], [3](https://shop.example/3)',
      '[guide](https://shop.example/guide), [guide](https://shop.example/guide), 3',
    ],
    ['![a lamp](lamp.png) `[x](y)` \\[x](y)', 'a lamp `[x](y)` [x](y)'],
    ['__bold__ and *slanted* and ~~gone~~', '**bold** and slanted and gone'],
  ]
  for (const [written, kept] of cases) {
    const text = `${written}\n\n[g]: guide "The guide"\n[guide]: /guide\n`
    const bytes = new TextEncoder().encode(text)
    const { sections } = await extractDocument({ bytes, type: 'md', url: 'https://shop.example/help/' })
    assert.equal(
      sections[0]!.text,
      kept.replace('example/guide)', written.includes('[G]') ? 'example/help/guide)' : 'example/guide)'),
    )
  }
  const { sections } = await extract(
    'md',
    '# See [a](https://b.example)\n\n[here](other.md) or [there](https://b.example)',
  )
  assert.deepEqual(outline(sections), [['See a', 'here or [there](https://b.example/)']])
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

test('plain text keeps its lines, except those that an editor wrapped', async () => {
  const wrapped =
    'The quick brown fox jumps over the lazy dog and runs far\naway over the hills until nobody sees it.'
  const { sections } = await extract('txt', `${wrapped}\n\nStreet 1\nTown`)
  assert.equal(sections[0]!.text, `${wrapped.replace('\n', ' ')}\n\nStreet 1\nTown`)
  await failsWith('no_text', 'txt', ' \n ')
  const titled =
    'Guide\n=====\nEmpty\n-----\nHours\n-----\nFrom nine.\nPrices\n------\n\nA   B\n--  --\nMilk   1'
  assert.deepEqual(outline((await extract('txt', titled)).sections), [
    ['Guide > Empty', 'Empty'],
    ['Guide > Hours', 'From nine.'],
    ['Guide > Prices', 'A   B\n--  --\nMilk   1'],
  ])
})

test('short lines above text are titles of plain text if there are several, and lines in bold those of Markdown', async () => {
  const notes =
    'NOTES FOR THE DESK\n\nRETURNS\n30 days, with the receipt.\n\nOpening hours\nMo-Fr 9-18, closed on holidays.\n\n' +
    'In the shop\n\nBring the number of your order, please.\n\n3.1 Repairs\nRewiring costs 45 euros.\n\n' +
    'Lampenhaus\nStreet 1\nVienna\n\nTo descale it:\n1. Open the lid\n2. Fill the tank\n\nYours\nAnna'
  assert.deepEqual(outline((await extract('txt', notes)).sections), [
    ['', 'NOTES FOR THE DESK'],
    ['RETURNS', '30 days, with the receipt.'],
    ['Opening hours', 'Mo-Fr 9-18, closed on holidays.'],
    ['In the shop', 'Bring the number of your order, please.'],
    [
      'In the shop > 3.1 Repairs',
      'Rewiring costs 45 euros.\n\nLampenhaus\nStreet 1\nVienna\n\nTo descale it:\n1. Open the lid\n2. Fill the tank\n\nYours\nAnna',
    ],
  ])
  const single = 'Opening hours\nMo-Fr 9-18, closed on holidays.'
  assert.deepEqual(outline((await extract('txt', single)).sections), [['', single]])
  const bold =
    '# Boots\n\n**Care**\nWax them.\n\n**Sizes:**\n\n36 to 48\n\n- **Dry** at once\n\n**They are warm.**'
  assert.deepEqual(outline((await extract('md', bold)).sections), [
    ['Boots > Care', 'Wax them.'],
    ['Boots > Sizes', '36 to 48\n\n- **Dry** at once\n\n**They are warm.**'],
  ])
})
