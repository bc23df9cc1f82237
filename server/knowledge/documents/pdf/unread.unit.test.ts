import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extractDocument } from '../extract-document.ts'

/** Returns a PDF whose pages have these contents. Readers find its objects without a table of them. */
function pdfOf(contents: string[], font = '/Type /Font /Subtype /Type1 /BaseFont /Helvetica'): Uint8Array {
  const kids = contents.map((_, at) => `${10 + at * 2} 0 R`)
  const pages = contents.map(
    (content, at) =>
      `${10 + at * 2} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents ${11 + at * 2} 0 R >> endobj
${11 + at * 2} 0 obj << /Length ${content.length} >> stream\n${content}\nendstream endobj`,
  )
  return Buffer.from(
    `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Count ${kids.length} /Kids [${kids.join(' ')}] >> endobj
3 0 obj << ${font} >> endobj
4 0 obj << /Type /Font /Subtype /CIDFontType2 /BaseFont /Strange /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >> endobj
${pages.join('\n')}
trailer << /Root 1 0 R >>`,
    'latin1',
  )
}

const line = (text: string) => `BT /F 12 Tf 1 0 0 1 60 700 Tm ${text} Tj ET`
const picture = 'q 400 0 0 400 60 200 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q'
const drawing = '60 700 m 80 720 90 700 120 700 c f'

test('pages that are pictures or drawings are named, and empty ones are not', async () => {
  const pages = [
    line('(A page with a text that is long enough.)'),
    picture,
    drawing,
    '',
    '0 0 595 842 re W n',
    line('(The end.)'),
  ]
  const { sections, gaps } = await extractDocument({ type: 'pdf', bytes: pdfOf(pages) })
  assert.deepEqual(
    sections.map(({ page, text }) => [page, text]),
    [
      [1, 'A page with a text that is long enough.'],
      [6, 'The end.'],
    ],
  )
  assert.deepEqual(gaps, [{ kind: 'pages', place: 'pages 2–3', count: 2 }])
})

test('letters of a font that does not say what they are are counted', async () => {
  const font = '/Type /Font /Subtype /Type0 /BaseFont /Strange /Encoding /Identity-H /DescendantFonts [4 0 R]'
  const { gaps } = await extractDocument({ type: 'pdf', bytes: pdfOf([line('<0041004200430044>')], font) })
  assert.deepEqual(gaps, [{ kind: 'letters', place: 'page 1', count: 4 }])
})

test('a file that is read completely has no gaps', async () => {
  const { gaps } = await extractDocument({ type: 'pdf', bytes: pdfOf([line('(It is a whole text.)'), '']) })
  assert.deepEqual(gaps, [])
})

test('pages that are pictures with a number that a scanner stamped on them are named', async () => {
  const scans = [8, 9, 10, 11].map((number) => `${picture} ${line(`(Office copy 2026/${number})`)}`)
  const { gaps } = await extractDocument({ type: 'pdf', bytes: pdfOf(scans) })
  assert.deepEqual(gaps, [{ kind: 'pages', place: 'pages 1–4', count: 4 }])
  const slides = [8, 9, 10, 11].map((number) => `${drawing} ${line(`(Room ${number} is free.)`)}`)
  assert.deepEqual((await extractDocument({ type: 'pdf', bytes: pdfOf(slides) })).gaps, [])
})
