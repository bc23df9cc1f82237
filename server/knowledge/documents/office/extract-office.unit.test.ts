import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utils, write } from '@e965/xlsx'
import { docxOf, word } from '../../../../test/fixtures/hostile-documents.ts'
import { extractDocument } from '../extract-document.ts'

const paragraph = (text: string) => `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
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
