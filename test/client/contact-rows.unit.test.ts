import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvRow } from '../../server/platform/text/rows/csv-row.ts'
import { readContacts } from '../../web/contacts/contact-rows.ts'
import { parseCsv } from '../../web/contacts/parse-csv.ts'

test('a table is parsed with each separator, quotes, line breaks in cells and a byte order mark', () => {
  assert.deepEqual(parseCsv('\uFEFFa;b\r\n1;"x;""y""\r\nz"\r\n\r\n2;\n'), [
    ['a', 'b'],
    ['1', 'x;"y"\r\nz'],
    ['2', ''],
  ])
  assert.deepEqual(parseCsv('a\tb\n1\t2'), [
    ['a', 'b'],
    ['1', '2'],
  ])
})

test('a written row is read back unchanged, and a spreadsheet does not take it for a formula', () => {
  const cells = ['plain', 'with, comma', 'with "quotes"', 'two\nlines', '']
  assert.deepEqual(parseCsv(csvRow(cells)), [cells])
  assert.equal(csvRow(['=1+1', -1, null]), "'=1+1,-1,\r\n")
  for (const sign of ['=', '+', '-', '@', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20', '\uFE66'])
    for (const before of [
      '',
      ' ',
      '\t',
      '\n',
      '\r\n',
      '\0',
      '\u00A0',
      '\u00AD',
      '\u200B',
      '\u2060',
      '\u3164',
      '\uFEFF',
    ])
      assert.match(csvRow([`${before}${sign}1+1`]), /^"?'/u, JSON.stringify(before + sign))
  for (const plain of ['1=1', 'a@b.c', ' indented', '\u200Bword', '\u2013 a dash', ''])
    assert.equal(csvRow([plain]), `${plain}\r\n`)
})

test('columns become contact fields by their headings, and others custom attributes', () => {
  const read = readContacts('E-Mail,Full name,City,Phone number,External id\na@b.c,Ann,Graz,,7\n')
  assert.deepEqual(read?.contacts, [
    { email: 'a@b.c', name: 'Ann', externalId: '7', customAttributes: { City: 'Graz' } },
  ])
  assert.equal(readContacts('Name\n'), null)
})
