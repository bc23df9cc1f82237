import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utils, write } from '@e965/xlsx'
import { docxOf, word } from '../../../test/fixtures/hostile-documents.ts'
import { makeZip } from '../../../test/fixtures/make-zip.ts'
import { extractDocument } from './extract-document.ts'
import { gapCounter } from './gaps.ts'
import { countLeftOut } from './left-out-words.ts'
import { zipDirectory } from './office/zip-directory.ts'
import { countUnsure } from './pdf/unread.ts'

const counted = (raw: { place: string; text: string }[], read: string) => {
  const missing = gapCounter()
  countLeftOut(missing, raw, [{ headingPath: ['Lamps'], page: 1, text: read }])
  return missing.gaps('page')
}

test('words that a file holds and its text does not are counted with their places, unless they are few', () => {
  const long = 'A lamp may be returned within thirty days. '.repeat(10)
  assert.deepEqual(counted([{ place: '1', text: `Lamps\n${long}` }], long), [])
  assert.deepEqual(counted([{ place: '1', text: `Lamps\n${long} 7` }], long), [])
  const raw = ['1', '2', '4'].map((place) => ({ place, text: 'Lamps of Huber\nthirty days' }))
  assert.deepEqual(counted(raw, 'thirty days thirty days of Huber'), [
    { kind: 'words', place: 'pages 2, 4', count: 8 },
  ])
})

test('what is hidden in a Word file is named, and so are words of formulas', async () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`
  const body = `<w:p>${run('A lamp for the desk. ')}${run('Bought for three euros.', '<w:vanish/>')}</w:p>`
  const { gaps } = await extractDocument({ type: 'docx', bytes: docxOf(word(body)) })
  assert.deepEqual(gaps, [{ kind: 'words', place: 'text', count: 4 }])
  const formula = '<w:p><m:oMath><m:r><m:t>E</m:t></m:r><m:r><m:t>=mc</m:t></m:r></m:oMath></w:p>'
  const withFormula = await extractDocument({
    type: 'docx',
    bytes: docxOf(word(`${formula}<w:p>${run('Energy.')}</w:p>`)),
  })
  assert.deepEqual(withFormula.gaps, [{ kind: 'layout', place: 'formulas', count: 2 }])
})

test('words at an angle and at raised signs are unsure, and those of a line are not', () => {
  const item = (str: string, x: number, y: number, turned = false) => ({
    str,
    transform: turned ? [0, 10, -10, 0, x, y] : [10, 0, 0, 10, x, y],
    width: str.length * 5,
    height: 10,
    fontName: 'f',
    hasEOL: false,
  })
  assert.equal(
    countUnsure([item('A lamp', 0, 0), item('for the desk', 33, 0), item('Next line', 0, -12)] as never),
    0,
  )
  assert.equal(countUnsure([item('E', 0, 0), item('max', 6, -3)] as never), 1)
  assert.equal(countUnsure([item('3x3 conv, 64', 0, 0, true)] as never), 3)
})

test('boxes of text on a sheet are read, and the words of hidden sheets are named', async () => {
  const book = utils.book_new()
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['Lamp', 'Price'],
      ['Desk', 30],
    ]),
    'Prices',
  )
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Bought for three euros', 3]]), 'Own')
  book.Workbook = { Sheets: [{}, { Hidden: 1 }] }
  const written = Buffer.from(write(book, { type: 'buffer', bookType: 'xlsx' }))
  const bytes = makeZip({
    ...Object.fromEntries(zipDirectory(written).map((entry) => [entry.name, entry.read()])),
    'xl/worksheets/_rels/sheet1.xml.rels':
      '<Relationships><Relationship Id="r" Type="x/drawing" Target="../drawings/d.xml"/></Relationships>',
    'xl/drawings/d.xml':
      '<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:sp><a:p><a:r><a:t>With bulb.</a:t></a:r></a:p></xdr:sp></xdr:wsDr>',
  })
  const { sections, gaps } = await extractDocument({ type: 'xlsx', bytes })
  assert.equal(sections[0]?.text, 'Lamp: Desk; Price: 30\n\nWith bulb.')
  assert.deepEqual(gaps, [{ kind: 'words', place: 'sheet Own', count: 4 }])
})
