import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makePdf } from '../../../../test/fixtures/make-pdf.ts'
import { extractDocument } from '../extract-document.ts'
import { withFormValues } from './form-values.ts'
import { withoutStruckTwice } from './mend-letters.ts'
import { linesOf } from './pdf-lines.ts'
import { inReadingOrder, type PdfItem } from './right-to-left.ts'

const sectionsOf = async (bytes: Uint8Array) => (await extractDocument({ type: 'pdf', bytes })).sections
const textOf = async (lines: string[]) =>
  (await sectionsOf(makePdf([{ heading: '', lines }]))).map(({ text }) => text).join('\n\n')

/** Moves what stands at one place of a page to another. */
function moved(pdf: Uint8Array, ...moves: [from: string, to: string][]): Uint8Array {
  let file = Buffer.from(pdf).toString('latin1')
  for (const [from, to] of moves) {
    assert.ok(file.includes(from) && from.length === to.length, from)
    file = file.replace(from, to)
  }
  return Buffer.from(file, 'latin1')
}

test('the names in the middle of the columns of a PDF belong to the cells on their left', async () => {
  const lines = [
    '*Weekday\tPlace\tTime',
    'Monday\tVienna\t10:30',
    'Every Friday\tGraz\t14:00',
    'Sunday\t\t9:00',
  ]
  const pdf = moved(
    makePdf([{ heading: '', lines }]),
    [' 60 744 Tm', ' 93 744 Tm'],
    [' 210 744 Tm', ' 263 744 Tm'],
    [' 360 744 Tm', ' 430 744 Tm'],
  )
  assert.equal(
    (await sectionsOf(pdf))[0]!.text,
    'Weekday: Monday; Place: Vienna; Time: 10:30\nWeekday: Every Friday; Place: Graz; Time: 14:00\n' +
      'Weekday: Sunday; Time: 9:00',
  )
  const two = moved(
    makePdf([
      {
        heading: '',
        lines: ['*Reason\tPaid by', 'Change of mind\tthe customer', 'Defect\tus', 'Size\tno one'],
      },
    ]),
    [' 60 744 Tm', ' 93 744 Tm'],
    [' 210 744 Tm', ' 253 744 Tm'],
  )
  assert.equal(
    (await sectionsOf(two))[0]!.text,
    'Reason: Change of mind; Paid by: the customer\nReason: Defect; Paid by: us\nReason: Size; Paid by: no one',
  )
})

test('a paragraph below a table of a PDF does not continue its last row', async () => {
  const lines = ['*Value\tMeaning\tWhat to do', '3\ttoo low\tcall us', '9\tfine\tgo on']
  const below = 'A drop is taken from the edge of the ear, which is warmed before with a wet cloth,'
  // Its middle is that of a column.
  const pdf = moved(
    makePdf([{ heading: '', lines: [...lines, below, 'and read.'] }]),
    [' 60 702 Tm', ' 44 702 Tm'],
    [' 60 688 Tm', ' 44 688 Tm'],
  )
  assert.equal(
    (await sectionsOf(pdf))[0]!.text,
    `Value: 3; Meaning: too low; What to do: call us\nValue: 9; Meaning: fine; What to do: go on\n\n${below} and read.`,
  )
})

test('a line break within a word of katakana, a telephone number or a heading of a PDF leaves no space', async () => {
  assert.equal(
    await textOf(['紹介コードはマイペー', 'ジに出ます。予約は011-555-', '0110へ。']),
    '紹介コードはマイページに出ます。予約は011-555-0110へ。',
  )
  const heading = '特典1 のりかえで最大11,000ポ\nイント'
  const pdf = makePdf([{ heading, lines: ['ポイントは四か月目の末日に付与し、解約された方は対象外です。'] }])
  const [section] = await sectionsOf(moved(pdf, [' 60 744 Tm', ' 60 754 Tm']))
  assert.deepEqual(section!.headingPath, ['特典1 のりかえで最大11,000ポイント'])
})

test('a number and what it counts are joined in Korean lines of a PDF that divide words', async () => {
  const broken = ['최소 주문 금액은 일 회에 모두 200,000', '원입니다. 계약은 전화로 문의해 주십시']
  assert.match(await textOf([...broken, '오.']), /200,000원입니다/)
})

/** Returns what is seen of text from right to left: its parts, of which those in Latin letters or digits keep their order. */
const seen = (text: string): string =>
  (text.match(/[A-Za-z0-9](?:[A-Za-z0-9 -]*[A-Za-z0-9])?|[^A-Za-z0-9]/g) ?? [])
    .reverse()
    .map((part) => ({ '(': ')', ')': '(' })[part] ?? part)
    .join('')

test('lines from right to left are read in that direction, with their numbers, words and tables', async () => {
  // PDFs also store the form that an Arabic letter has at its place in the word.
  const forms = (text: string): string =>
    text.replaceAll('ال', '\ufe8d\ufedf').replaceAll('عم', '\ufecb\ufee4')
  const pdf = async (...lines: string[]) =>
    (await sectionsOf(makePdf([{ heading: '', lines }]))).map(({ text }) => text)
  const arabic = 'الإرجاع خلال 30 يوما (أو عبر App 6). عمليا 065551234.'
  assert.deepEqual(await pdf(seen(forms(arabic))), [arabic])
  const hebrew = 'אפשר להחזיר תוך 14 יום, בטלפון 03-5551234.'
  assert.deepEqual(await pdf(seen(hebrew)), [hebrew])
  assert.deepEqual(
    await pdf('Shalom means', seen('שלום לכם'), 'in the language of the hotel and of its guests.'),
    ['Shalom means שלום לכם in the language of the hotel and of its guests.'],
  )
  const row = (city: string, price: string): string => `${seen(price)}\t${seen(city)}`
  assert.deepEqual(
    await pdf(
      `*${row('المدينة', 'السعر')}`,
      row('عمان', '7 دينار'),
      row('العقبة', '12 دينار'),
      row('إربد', '9 دينار'),
    ),
    ['المدينة: عمان; السعر: 7 دينار\nالمدينة: العقبة; السعر: 12 دينار\nالمدينة: إربد; السعر: 9 دينار'],
  )
})

test('an Arabic mark that maps to no character splits no word', () => {
  // Chromium prints, from the left: the end of the word, a space in which the mark stands, and its beginning.
  const item = (str: string, x: number, width: number): PdfItem => ({
    str,
    width,
    height: 12,
    transform: [12, 0, 0, 12, x, 700],
    hasEOL: false,
    fontName: 'f',
  })
  const word = [
    item('ع', 317, 6),
    item(' ', 323, 2),
    item('\0', 324, 0),
    item('ق', 323, 5),
    item('و', 328, 6),
  ]
  const read = (items: PdfItem[]): string =>
    inReadingOrder(items, 600)
      .map(({ str }) => str)
      .join('')
  assert.equal(read(word), 'وقع')
  assert.equal(read([item('ع', 317, 6), item(' ', 323, 3), item('\0', 330, 0), item('ق', 326, 5)]), 'ق ع')
})

test('items with a Japanese bullet are lines of their own', async () => {
  assert.equal(await textOf(['・受付は十時から', '・予約は前日まで']), '・受付は十時から\n・予約は前日まで')
})

const itemAt = (str: string, x: number, y: number, width: number): PdfItem => ({
  str,
  transform: [10, 0, 0, 10, x, y],
  width,
  height: 10,
  hasEOL: false,
  fontName: 'f',
})
const wordsOf = (items: readonly PdfItem[]): string[] => items.map(({ str }) => str).filter(Boolean)

test('a text that is struck twice to look bold is read once, as a whole or letter by letter', () => {
  const whole = [
    itemAt('Bold title', 40, 700, 50),
    itemAt('Bold title', 40.5, 700, 50),
    itemAt('ll', 95, 700, 5),
  ]
  assert.deepEqual(wordsOf(withoutStruckTwice(whole)), ['Bold title', 'll'])
  const letters = [itemAt('N', 40, 700, 7), itemAt('NO', 40.4, 700, 14.5), itemAt('O', 47.8, 700, 7)]
  assert.equal(wordsOf(withoutStruckTwice(letters)).join(''), 'NO')
  const narrow = [itemAt('t', 40, 700, 3), itemAt('tiin', 40.4, 700, 12), itemAt('n', 46.8, 700, 6)]
  assert.equal(wordsOf(withoutStruckTwice(narrow)).join(''), 'tin')
  const below = [itemAt('same', 40, 700, 20), itemAt('same', 40, 688, 20), itemAt('same', 70, 688, 20)]
  assert.equal(withoutStruckTwice(below).length, 3)
})

test('what is entered in the fields of a PDF stands beside their labels, and passwords are not read', () => {
  const items = [itemAt('Name:', 40, 700, 30), itemAt('Plan:', 40, 660, 30), itemAt('End', 40, 600, 30)]
  const field = { subtype: 'Widget', fieldType: 'Tx' }
  const filled = withFormValues(items, [
    { ...field, rect: [90, 697, 200, 711], fieldValue: 'Ann Lamp' },
    {
      ...field,
      fieldType: 'Ch',
      rect: [90, 657, 200, 671],
      fieldValue: ['p'],
      options: [{ exportValue: 'p', displayValue: 'Premium' }],
    },
    { ...field, rect: [90, 597, 200, 611], fieldValue: 'secret', password: true },
  ])
  assert.deepEqual(wordsOf(filled), ['Name:', 'Ann Lamp', 'Plan:', 'Premium', 'End'])
})

test('what a browser prints around a page is left out, and a last line with an address is kept', async () => {
  const body = 'The grinder has a warranty of two years from the day of purchase.'
  const printed = (bottom: string) => [
    { heading: '', lines: ['11/28/26, 7:40 AM\tGrinder', '', body, '', bottom] },
  ]
  const read = async (bottom: string) =>
    (await sectionsOf(makePdf(printed(bottom)))).map(({ text }) => text).join('\n')
  assert.equal(await read('https://example.com/grinder\t1/1'), body)
  assert.match(await read('See https://example.com/grinder'), /example\.com/)
})

test('narrow gaps between Arabic words, and beside words of other scripts, are spaces', () => {
  const items = [itemAt('بلغة', 70, 700, 30), itemAt('R', 61, 700, 7), itemAt('الداخلي', 30, 700, 29)]
  const lineOf = (line: PdfItem[]) =>
    linesOf(
      inReadingOrder(line, 100),
      (font) => font,
      () => false,
    )[0]?.text
  assert.equal(lineOf(items), 'بلغة R الداخلي')
  const whole = [itemAt('اميد', 60, 700, 20), itemAt('نامه', 39.5, 700, 20)]
  assert.equal(lineOf(whole), 'اميدنامه')
})

test('lines of a PDF that differ in a digit are kept where they are all that their pages say', async () => {
  const read = async (pages: string[][]) =>
    (await sectionsOf(makePdf(pages.map((lines) => ({ heading: '', lines }))))).map(({ text }) => text)
  const prices = [40, 55, 30, 70, 20]
  const rooms = prices.map((price, at) => `Room ${at + 1} costs ${price} euros a night.`)
  assert.deepEqual(await read(rooms.map((room) => [room])), rooms)
  // A heading of the file and a page number do not make them less.
  assert.deepEqual(
    await read(rooms.map((room, at) => ['Hotel Lamp', '', room, `\t${at + 1}`])),
    rooms.map((room, at) => (at === 0 ? `Hotel Lamp\n\n${room}` : room)),
  )
  const views = ['Garden.', 'Street.', 'Sea.', 'Wall.', 'Park.']
  assert.deepEqual(
    await read(rooms.map((room, at) => [room, '', views[at]!])),
    rooms.map((room, at) => `${room}\n\n${views[at]}`),
  )
})

test('a number in the footer of each page of a PDF is kept once, and what counts the pages is not', async () => {
  const said = (at: number) => `Lamp ${at} stands on the desk of the person who ordered it, and shines there.`
  const pages = [1, 2, 3, 4].map((at) => ({
    heading: '',
    lines: [`Manual, sheet ${at}`, '', said(at * at), 'It is bright.', '\tHotline 555-0199'],
  }))
  assert.deepEqual(
    (await sectionsOf(makePdf(pages))).map(({ text }) => text),
    [1, 4, 9, 16].map((at, page) =>
      page === 0 ? `${said(at)} It is bright.\n\nHotline 555-0199` : `${said(at)} It is bright.`,
    ),
  )
})

type Placed = [x: number, y: number, text: string, size?: number]

/** Returns a PDF of pages whose texts stand where they are told to, in the order of the file. */
function placed(...pages: Placed[][]): Uint8Array {
  const objects = pages.map((texts, at) => {
    const shown = texts.map(
      ([x, y, text, size = 10]) => `BT /F ${size} Tf 1 0 0 1 ${x} ${y} Tm (${text}) Tj ET`,
    )
    const content = shown.join('\n')
    return `${10 + at * 2} 0 obj << /Length ${content.length} >> stream\n${content}\nendstream endobj
${11 + at * 2} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >> /Contents ${10 + at * 2} 0 R >> endobj`
  })
  return Buffer.from(
    `%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${11 + at * 2} 0 R`).join(' ')}] >> endobj
3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
${objects.join('\n')}
trailer << /Root 1 0 R >>`,
    'latin1',
  )
}
const readTexts = async (...texts: Placed[]): Promise<string[]> =>
  (await sectionsOf(placed(texts))).map(({ text }) => text)

test('a cell of several lines belongs to its row, in whose middle the others stand', async () => {
  const rows = await readTexts(
    [60, 700, 'No.'],
    [120, 700, 'What we do'],
    [400, 700, 'Price'],
    [120, 676, 'Cleaning of the machine with'],
    [60, 670, '1'],
    [400, 670, '40.00'],
    [120, 664, 'hot steam'],
    [120, 640, 'New seals, a new hose and'],
    [60, 628, '2'],
    [120, 628, 'a test of the pressure at'],
    [400, 628, '65.00'],
    [120, 616, 'the place of the customer'],
    [60, 592, '3'],
    [120, 592, 'Journey'],
    [400, 592, '25.00'],
  )
  assert.deepEqual(rows, [
    'No.: 1; What we do: Cleaning of the machine with hot steam; Price: 40.00\n' +
      'No.: 2; What we do: New seals, a new hose and a test of the pressure at the place of the customer; Price: 65.00\n' +
      'No.: 3; What we do: Journey; Price: 25.00',
  ])
})

test('rows that the file has cell by cell are read as rows, and columns of text one after the other', async () => {
  const rows = await readTexts(
    [60, 730, 'This is what you have ordered from us and what you pay for it.'],
    [60, 700, 'No.'],
    [120, 700, 'What'],
    [400, 700, 'Price'],
    [60, 680, '1'],
    [120, 680, 'A kettle of steel with a lid'],
    [120, 668, 'and a whistle'],
    [400, 680, '40.00'],
    [60, 648, '2'],
    [120, 648, 'A cup'],
    [400, 648, '5.00'],
  )
  assert.deepEqual(rows, [
    'This is what you have ordered from us and what you pay for it.\n\n' +
      'No.: 1; What: A kettle of steel with a lid and a whistle; Price: 40.00\nNo.: 2; What: A cup; Price: 5.00',
  ])
  const columns = await readTexts(
    [60, 700, 'Blue Lamp Ltd'],
    [60, 688, 'Mill Lane 4'],
    [60, 676, 'Leeds'],
    [300, 700, 'Open from nine to five'],
    [300, 688, 'and on Saturdays'],
  )
  assert.match(
    columns.join('\n'),
    /Blue Lamp Ltd Mill Lane 4 Leeds\s+Open from nine to five and on Saturdays/,
  )
})

test('the number of a footnote and an exponent are not part of the word or number before them', async () => {
  const texts = await readTexts(
    [60, 700, 'The warranty'],
    [118.5, 704, '1', 6],
    [124.5, 700, 'covers 20 m'],
    [179.2, 704, '2', 6],
    [186, 700, 'of floor.'],
  )
  assert.deepEqual(texts, ['The warranty¹ covers 20 m² of floor.'])
})

test('letters that are set apart are words', async () => {
  assert.deepEqual(await readTexts([60, 700, ') Tj 1.5 Tc (WARRANTY TERMS) Tj 0 Tc (']), ['WARRANTY TERMS'])
})

test('a footer of several lines is kept once', async () => {
  const footer = [
    'Blue Lamp Ltd, Mill Lane 4, Leeds',
    'IBAN GB33 BUKB 2020 1555 5555 55',
    'Court of Leeds 4711',
  ]
  const bodies = ['The lamp has a warranty of five years.', 'The bulb has one of a single year.']
  const pages = bodies.map((body): Placed[] => [
    [60, 700, body],
    ...footer.map((line, at): Placed => [60, 60 - at * 12, line]),
  ])
  const sections = await sectionsOf(placed(...pages))
  assert.deepEqual(
    sections.map(({ text }) => text.replace(/\s+/g, ' ')),
    [[bodies[0], ...footer].join(' '), bodies[1]],
  )
})

test('a label that the file has after its value stands before it', async () => {
  const texts = await readTexts(
    [200, 700, '4711'],
    [60, 700, 'Order number:'],
    [200, 680, '7 May'],
    [60, 680, 'Date:'],
  )
  assert.deepEqual(texts, ['Order number: | 4711\nDate: | 7 May'])
})

test('the second line of a first cell, and headings of rows, are in their table', async () => {
  const rows = await readTexts(
    [60, 700, 'What'],
    [300, 700, 'Pieces'],
    [400, 700, 'Price'],
    [60, 680, 'Food'],
    [60, 660, 'Olive oil'],
    [300, 660, '1'],
    [400, 660, '9.00'],
    [60, 648, 'in a bottle of glass'],
    [60, 628, 'Truffles'],
    [300, 628, '2'],
    [400, 628, '150.00'],
  )
  assert.deepEqual(rows, [
    'Food | What: Olive oil in a bottle of glass; Pieces: 1; Price: 9.00\nFood | What: Truffles; Pieces: 2; Price: 150.00',
  ])
})

test('the narrow columns of a printed table whose cells stand in the middle of their rows are read', async () => {
  const rows = await readTexts(
    [40, 674, 'No.'],
    [67, 674, 'Description'],
    [229, 674, 'Qty'],
    [256, 674, 'Price'],
    [40, 646, '1'],
    [67, 652, 'Cleaning of the coffee machine'],
    [67, 640, 'with hot steam'],
    [229, 646, '2'],
    [256, 646, '40.00'],
    [40, 613, '2'],
    [67, 619, 'Journey to the place of the'],
    [67, 607, 'customer and back'],
    [229, 613, '1'],
    [256, 613, '25.00'],
    [40, 585, 'Total'],
    [251, 585, '105.00'],
  )
  assert.deepEqual(rows, [
    'No.: 1; Description: Cleaning of the coffee machine with hot steam; Qty: 2; Price: 40.00\n' +
      'No.: 2; Description: Journey to the place of the customer and back; Qty: 1; Price: 25.00\n' +
      'No.: Total; Price: 105.00',
  ])
  // The gaps between these are hardly wider than a space.
  const near = await readTexts(
    ...['Vienna', 'Graz', 'Linz'].flatMap((city, at): Placed[] => [
      [60, 700 - at * 14, city],
      [100, 700 - at * 14, `Lane ${at}`],
      [138.5, 700 - at * 14, `555-${at}`],
    ]),
  )
  assert.deepEqual(near, ['Vienna | Lane 0 | 555-0\nGraz | Lane 1 | 555-1\nLinz | Lane 2 | 555-2'])
})

test('the length of a vertical line of a PDF is not the size of its letters', () => {
  const column = { ...itemAt('あいうえお', 233, 299, 9), height: 46, hasEOL: true }
  const lines = linesOf(
    [column, itemAt('日本語', 218, 299, 9)],
    (font) => font,
    () => false,
  )
  assert.deepEqual(
    lines.map(({ text, size }) => [text, size]),
    [
      ['あいうえお', 10],
      ['日本語', 10],
    ],
  )
})

test('a line below code that begins with a small letter is kept', async () => {
  const prose = ['This is how the service is installed on a machine of your own:', '']
  const text = await textOf([...prose, '`npm install', '`npm start', 'starts the service on its port.'])
  assert.match(text, /npm start\n```\s+starts the service on its port\./)
})

test('bullets of any kind are no cells of their own', async () => {
  const items = ['Open the lid', 'Press start'].flatMap((text, at): Placed[] => [
    [60, 700 - at * 14, '~'],
    [74, 700 - at * 14, text],
  ])
  assert.match((await readTexts(...items)).join(' '), /~ Open the lid\s+~ Press start/)
})
