import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utils, type WorkBook, write } from '@e965/xlsx'
import { docxOf, word } from '../../../../test/fixtures/hostile-documents.ts'
import { makeZip } from '../../../../test/fixtures/make-zip.ts'
import { extractDocument } from '../extract-document.ts'
import { zipDirectory } from './zip-directory.ts'

const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
const filesOf = (book: WorkBook): Record<string, Buffer> =>
  Object.fromEntries(
    zipDirectory(Buffer.from(write(book, { type: 'buffer', bookType: 'xlsx' }))).map((entry) => [
      entry.name,
      entry.read(),
    ]),
  )
const margin = (...lines: string[]) =>
  `<w:hdr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${lines.map(paragraph).join('')}</w:hdr>`

test('sentences in the headers and footers of a Word file are kept once, unless the document says them', async () => {
  const bytes = docxOf(word(paragraph('婚纱摄影服务合同') + paragraph('甲方付款。')), {
    'word/header1.xml': margin('光屿照相馆', '婚纱摄影服务合同'),
    'word/header2.xml': margin('光屿照相馆'),
    'word/footer1.xml': margin('一式两份，甲乙双方各执一份', '第 1 页'),
    'word/footer2.xml': margin('一式两份，甲乙双方各执一份'),
  })
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.deepEqual(
    sections.map(({ text }) => text),
    ['婚纱摄影服务合同\n\n甲方付款。', '光屿照相馆\n一式两份，甲乙双方各执一份'],
  )
})

test('a short line in a header of a Word file is kept although its letters are within other texts', async () => {
  const bytes = docxOf(word(paragraph('A private draft of the contract, revision 12.')), {
    'word/header1.xml': margin('VAT', 'Draft', 'Rev 1'),
  })
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.equal(sections[1]?.text, 'VAT\nDraft\nRev 1')
})

test('labels that a drawing of a Word file repeats are kept each time', async () => {
  const label = (text: string) => `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>${text}</w:t></w:r></w:p>`
  const labels = ['Open?', 'Yes', 'No', 'Yes', 'Paid?', 'No']
  const bytes = docxOf(word(paragraph('How we decide.') + labels.map(label).join('')))
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.deepEqual(
    sections.flatMap(({ text }) => text.split('\n\n')),
    ['How we decide.', ...labels],
  )
})

test('links of a Word file are kept as Markdown', async () => {
  const run = (inside: string) => `<w:r>${inside}</w:r>`
  const field = (kind: string) => run(`<w:fldChar w:fldCharType="${kind}"/>`)
  const link = `${field('begin')}${run('<w:instrText xml:space="preserve"> HYPERLINK "https://example.com/form" </w:instrText>')}${field('separate')}${run('<w:t>return form</w:t>')}${field('end')}`
  const text = (words: string) => run(`<w:t xml:space="preserve">${words}</w:t>`)
  const bytes = docxOf(word(`<w:p>${text('Fill in the ')}${link}${text(' within 30 days.')}</w:p>`))
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.equal(sections[0]!.text, 'Fill in the [return form](https://example.com/form) within 30 days.')
})

test('each sheet of a workbook is under its name, and a note below a table is in no column', async () => {
  const book = utils.book_new()
  const header = ['Number', 'Article', 'Price']
  const rows = [header, ['1', 'Print', '2'], ['2', 'Frame', '30'], ['10% off from 100 prints']]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), '冲印')
  utils.book_append_sheet(book, utils.aoa_to_sheet([header, ['3', 'Mug', '9']]), '小礼品')
  const bytes = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer
  const { sections } = await extractDocument({ type: 'xlsx', bytes })
  assert.deepEqual(
    sections.map(({ headingPath, text }) => [headingPath.join(' > '), text]),
    [
      [
        '冲印',
        'Number: 1; Article: Print; Price: 2\nNumber: 2; Article: Frame; Price: 30\n\n10% off from 100 prints',
      ],
      ['小礼品', 'Number: 3; Article: Mug; Price: 9'],
    ],
  )
})

const math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
const numbered = (level: number, text: string, style = '') =>
  `<w:p><w:pPr>${style}<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
const level = (at: number, format: string, text: string) =>
  `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`

test('numbered paragraphs of a Word file have the labels that are shown', async () => {
  const numbering = `<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:abstractNum w:abstractNumId="0">${level(0, 'upperRoman', 'Part %1:')}${level(1, 'decimal', '%2.')}${level(2, 'lowerLetter', '%2.%3)')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`
  const document = word(
    [
      numbered(0, 'Goods'),
      numbered(1, 'Delivery'),
      numbered(2, 'by post'),
      numbered(2, 'by bicycle'),
      paragraph('A paragraph between.'),
      numbered(1, 'Returns'),
      numbered(0, 'Money'),
      numbered(1, 'Payment'),
    ].join(''),
  )
  const bytes = docxOf(document, { 'word/numbering.xml': numbering })
  const { sections } = await extractDocument({ type: 'docx', bytes })
  const lines = sections
    .map(({ text }) => text)
    .join('\n')
    .split(/\n+/)
  assert.deepEqual(lines, [
    'Part I: Goods',
    '1. Delivery',
    '1.a) by post',
    '1.b) by bicycle',
    'A paragraph between.',
    '2. Returns',
    'Part II: Money',
    '1. Payment',
  ])
})

test('a Word file is read as it is shown: equations, readings, chosen values, and no hidden text', async () => {
  const equation = `<m:oMath ${math}><m:r><m:t>x=</m:t></m:r><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:rad><m:deg/><m:e><m:r><m:t>c</m:t></m:r></m:e></m:rad></m:den></m:f></m:oMath>`
  const ruby =
    '<w:r><w:ruby><w:rt><w:r><w:t>おおさか</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>大阪</w:t></w:r></w:rubyBase></w:ruby></w:r>'
  const choice =
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/><w:listEntry w:val="blue"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
  const styles =
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="character" w:styleId="secret"><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
  const hidden =
    '<w:r><w:rPr><w:rStyle w:val="secret"/></w:rPr><w:t>internal</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r>'
  const bytes = docxOf(word([equation, ruby, choice, hidden].map((one) => `<w:p>${one}</w:p>`).join('')), {
    'word/styles.xml': styles,
  })
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.equal(sections[0]?.text, 'x=(a+b)/(√(c))\n\n大阪（おおさか）\n\nblue\n\nshown')
})

test('a title that closes itself is no title made of the other properties', async () => {
  const core =
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title/><dc:creator>Ann</dc:creator><cp:revision>1</cp:revision></cp:coreProperties>'
  const bytes = docxOf(word(paragraph('Returns are free.')), { 'docProps/core.xml': core })
  const { title, sections } = await extractDocument({ type: 'docx', bytes })
  assert.deepEqual([title, sections], [null, [{ headingPath: [], page: null, text: 'Returns are free.' }]])
})

test('a workbook shows dates in any format and all digits, and labels with their values', async () => {
  const sheet = utils.aoa_to_sheet([
    ['Course', 'Begins', 'Number', 'Share'],
    ['Yoga', 46_096, 4_006_381_333_931, 0.25],
    ['Judo', 46_114.5, 491_701_234_567, 0.5],
  ])
  for (const [cell, format] of Object.entries({ B2: 'd.m.yy', B3: 'dd.mm.yyyy hh.mm', D2: '0.0%' }))
    sheet[cell].z = format
  const book = utils.book_new()
  utils.book_append_sheet(book, sheet, 'Courses')
  const labels = [
    ['Company', 'Blue Lamp Ltd'],
    ['Telephone:', '555-0199'],
    ['Hours', 'nine to five'],
  ]
  utils.book_append_sheet(book, utils.aoa_to_sheet(labels), 'Contact')
  const bytes = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer
  const { sections } = await extractDocument({ type: 'xlsx', bytes })
  assert.deepEqual(
    sections.map(({ text }) => text),
    [
      'Course: Yoga; Begins: 15.3.26; Number: 4006381333931; Share: 25.0%\n' +
        'Course: Judo; Begins: 02.04.2026 12.00; Number: 491701234567; Share: 0.5',
      'Company: Blue Lamp Ltd\nTelephone: 555-0199\nHours: nine to five',
    ],
  )
})

test('charts and diagrams of a presentation are read', async () => {
  const part = (inside: string) =>
    `<p:sld xmlns:p="p" xmlns:a="a" xmlns:r="r" xmlns:c="c" xmlns:dgm="d"><p:graphicFrame>${inside}</p:graphicFrame></p:sld>`
  const points = (...values: string[]) =>
    `<c:cache>${values.map((value, at) => `<c:pt idx="${at}"><c:v>${value}</c:v></c:pt>`).join('')}</c:cache>`
  const bytes = makeZip({
    'ppt/presentation.xml':
      '<p:presentation xmlns:p="p" xmlns:r="r"><p:sldIdLst><p:sldId id="1" r:id="a"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels':
      '<Relationships><Relationship Id="a" Type="t" Target="slides/s.xml"/></Relationships>',
    'ppt/slides/s.xml': part('<c:chart r:id="b"/><dgm:relIds r:dm="e"/>'),
    'ppt/slides/_rels/s.xml.rels':
      '<Relationships><Relationship Id="b" Type="chart" Target="../charts/c.xml"/><Relationship Id="e" Type="data" Target="../diagrams/d.xml"/></Relationships>',
    'ppt/charts/c.xml': `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:title><a:p><a:r><a:t>Visitors</a:t></a:r></a:p></c:title><c:ser><c:tx>${points('2026')}</c:tx><c:cat>${points('May', 'June')}</c:cat><c:val>${points('7', '9')}</c:val></c:ser></c:chartSpace>`,
    'ppt/diagrams/d.xml':
      '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:pt><dgm:t><a:p><a:r><a:t>Book</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Pay</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>',
  })
  const { sections } = await extractDocument({ type: 'pptx', bytes })
  assert.equal(sections[0]?.text, 'Visitors\nMay; 2026: 7\nJune; 2026: 9\n\nBook\nPay')
})

test('newer charts, and the titles of charts on a sheet, are read', async () => {
  const book = utils.book_new()
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['Month', 'Visitors'],
      ['May', 7],
      ['June', 9],
    ]),
    'Sheet1',
  )
  const files = filesOf(book)
  const chart = (name: string, id: string) => `<${name}:chart xmlns:${name}="${name}" r:id="${id}"/>`
  const bytes = makeZip({
    ...files,
    'xl/worksheets/_rels/sheet1.xml.rels':
      '<Relationships><Relationship Id="a" Type="x/drawing" Target="../drawings/d.xml"/></Relationships>',
    'xl/drawings/d.xml': `<xdr:wsDr xmlns:xdr="x" xmlns:r="r">${chart('c', 'b')}${chart('cx', 'e')}</xdr:wsDr>`,
    'xl/drawings/_rels/d.xml.rels':
      '<Relationships><Relationship Id="b" Type="chart" Target="../charts/c.xml"/></Relationships>',
    'xl/charts/c.xml':
      '<c:chartSpace xmlns:c="c" xmlns:a="a"><c:title><a:p><a:r><a:t>Visitors of 2026</a:t></a:r></a:p></c:title><c:ser><c:val><c:pt idx="0"><c:v>7</c:v></c:pt></c:val></c:ser></c:chartSpace>',
  })
  const { sections, gaps } = await extractDocument({ type: 'xlsx', bytes })
  assert.equal(sections[0]?.text, 'Month: May; Visitors: 7\nMonth: June; Visitors: 9\n\nVisitors of 2026')
  assert.deepEqual(gaps, [{ kind: 'charts', place: 'sheet Sheet1', count: 1 }])
  const newer =
    '<cx:chartSpace xmlns:cx="cx" xmlns:a="a"><cx:chartData><cx:data id="0"><cx:strDim><cx:lvl><cx:pt idx="0">Rent</cx:pt><cx:pt idx="1">Wages</cx:pt></cx:lvl></cx:strDim><cx:numDim><cx:lvl><cx:pt idx="0">12</cx:pt><cx:pt idx="1">30</cx:pt></cx:lvl></cx:numDim></cx:data></cx:chartData><cx:chart><cx:title><cx:tx><cx:rich><a:p><a:r><a:t>What we pay</a:t></a:r></a:p></cx:rich></cx:tx></cx:title></cx:chart></cx:chartSpace>'
  const document = docxOf(word(`<w:p><w:r><w:drawing>${chart('cx', 'rId9')}</w:drawing></w:r></w:p>`), {
    'word/_rels/document.xml.rels':
      '<Relationships><Relationship Id="rId9" Type="chartEx" Target="charts/chartEx1.xml"/></Relationships>',
    'word/charts/chartEx1.xml': newer,
  })
  const read = await extractDocument({ type: 'docx', bytes: document })
  assert.equal(read.sections[0]?.text, 'What we pay\n\nRent; 12\n\nWages; 30')
})

test('hidden rows and columns of a workbook and hidden shapes of a slide are not read', async () => {
  const book = utils.book_new()
  const rows = [
    ['Article', 'We pay', 'Price'],
    ['Lamp', '7 net', '20'],
    ['Old lamp', '3 net', '9'],
    ['Bulb', '1 net', '4'],
  ]
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Sheet1')
  const files = filesOf(book)
  const xml = String(files['xl/worksheets/sheet1.xml'])
    .replace('<sheetData>', '<cols><col min="2" max="2" hidden="1"/></cols><sheetData>')
    .replace('<row r="3"', '<row hidden="1" r="3"')
  const bytes = makeZip({ ...files, 'xl/worksheets/sheet1.xml': xml })
  const { sections } = await extractDocument({ type: 'xlsx', bytes })
  assert.equal(sections[0]?.text, 'Article: Lamp; Price: 20\nArticle: Bulb; Price: 4')
})

test('what a field in one element shows is read', async () => {
  const field = '<w:fldSimple w:instr=" MERGEFIELD Name "><w:r><w:t>Ann Lamp</w:t></w:r></w:fldSimple>'
  const bytes = docxOf(word(`<w:p><w:r><w:t xml:space="preserve">Dear </w:t></w:r>${field}</w:p>`))
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.equal(sections[0]?.text, 'Dear Ann Lamp')
})

test('boxes that are ticked in a Word file are read', async () => {
  const box = (state: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="${state}"/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
  const bytes = docxOf(
    word(['1', '0'].map((state) => `<w:p>${box(state)}<w:r><w:t>Gift wrap</w:t></w:r></w:p>`).join('')),
  )
  const { sections } = await extractDocument({ type: 'docx', bytes })
  assert.equal(sections[0]?.text, '☒Gift wrap\n\n☐Gift wrap')
})

test('what is missing of an office file is named', async () => {
  const ole = '<w:object><o:OLEObject xmlns:o="o" ProgID="Excel.Sheet.12"/></w:object>'
  const chart = '<w:drawing><c:chart xmlns:c="c" r:id="rId9"/></w:drawing>'
  const bytes = docxOf(word(`${paragraph('A text.')}<w:p><w:r>${ole}${chart}</w:r></w:p>`))
  assert.deepEqual((await extractDocument({ type: 'docx', bytes })).gaps, [
    { kind: 'objects', place: null, count: 1 },
    { kind: 'charts', place: null, count: 1 },
  ])
  const whole = docxOf(word(paragraph('A text.')))
  assert.deepEqual((await extractDocument({ type: 'docx', bytes: whole })).gaps, [])
})

test('formulas without values and cells beyond the limits of a workbook are named', async () => {
  const book = utils.book_new()
  const sheet = utils.aoa_to_sheet([
    ['Article', 'Sum'],
    ['Lamp', 2],
    ['Bulb', 3],
  ])
  utils.book_append_sheet(book, sheet, 'Prices')
  const wide = utils.aoa_to_sheet([Array.from({ length: 502 }, (_, at) => `c${at}`)])
  utils.book_append_sheet(book, wide, 'Wide')
  const files = filesOf(book)
  const xml = String(files['xl/worksheets/sheet1.xml'])
  files['xl/worksheets/sheet1.xml'] = Buffer.from(
    xml.replace('<v>2</v>', '<f>1+1</f><v></v>').replace('<v>3</v>', '<f>1+2</f><v>3</v>'),
  )
  const { gaps } = await extractDocument({ type: 'xlsx', bytes: makeZip(files) })
  assert.deepEqual(gaps, [
    { kind: 'formulas', place: 'sheet Prices', count: 1 },
    { kind: 'cells', place: 'sheet Wide', count: 2 },
  ])
})
