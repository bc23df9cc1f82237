import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadCaseFile, readCases, writeCases } from './case-files.ts'

const refused = (text: string, format: 'json' | 'csv', problem: RegExp): void =>
  assert.throws(
    () => readCases(text, format),
    (error) => error instanceof BadCaseFile && problem.test(error.message),
  )

test('a table is read with any usual separator, and a cell is text whatever it looks like', () => {
  for (const separator of [',', ';', '\t']) {
    const rows = [
      ['name', ' messages ', 'holds', 'note'],
      ['007', '"Hi ""you"", there; now\tthen\nAnd?"', '1,5%'.replace(',', '.'), 'x'],
      ['', '', '', ''],
      ['2026-01-02', 'TRUE', '', ''],
    ]
    const text = `\ufeff${rows.map((row) => row.join(separator)).join('\r\n')}\r\n`
    assert.deepEqual(readCases(text, 'csv'), [
      { name: '007', messages: ['Hi "you", there; now\tthen', 'And?'], expect: { holds: ['1.5%'] } },
      { name: '2026-01-02', messages: ['TRUE'], expect: {} },
    ])
  }
  assert.deepEqual(
    readCases('messages\nHello; you\n', 'csv').map(({ messages }) => messages),
    [['Hello; you']],
  )
})

test('a file of another format is not read as one', () => {
  const html = '<html><table><tr><td>messages</td></tr><tr><td>Hello</td></tr></table></html>'
  assert.deepEqual(readCases(html, 'csv'), [])
  refused('ID;PWXL;N;E\nC;Y1;X1;K"messages"\nC;Y2;X1;K"Hello"\nE\n', 'csv', /Case 1/)
})

test('a table that is too wide, too long or too large is refused before its rows are made', () => {
  refused(`a${','.repeat(4_000)}\n${'a\n'.repeat(4_000)}`, 'csv', /50 columns/)
  refused(`messages\n${'a\n'.repeat(4_000)}`, 'csv', /at most 500/)
  refused(`messages\n${'\n'.repeat(4_000)}a\n`, 'csv', /at most 500/)
  refused(`messages\n${'x'.repeat(1_000_000)}\n`, 'csv', /1 MB/)
  const many = Array.from({ length: 501 }, (_, n) => ({ name: `${n}`, messages: ['x'], expect: {} }))
  refused(JSON.stringify(many), 'json', /at most 500/)
  const most = many.slice(1)
  assert.equal(readCases(writeCases(most, 'csv'), 'csv').length, 500)
})

test('text that cannot be stored is refused, in JSON and in cells that hold JSON', () => {
  for (const bad of ['\\u0000', '\\ud800', '\\udc00x']) {
    const problem = /NUL|surrogate|character/
    refused(`[{"name":"x","messages":["a${bad}"],"expect":{}}]`, 'json', problem)
    refused(`[{"name":"x","messages":["a"],"results":{"a${bad}":1},"expect":{}}]`, 'json', problem)
    refused(`name,messages\nx,"[""a${bad}""]"\n`, 'csv', problem)
    refused(`name,messages,results\nx,y,"{""f"":{""a"":""${bad}""}}"\n`, 'csv', problem)
  }
  // A name that is cut from a message is not cut within a character.
  const long = `${'x'.repeat(199)}😀`
  assert.equal(readCases(`messages\n${long}\n`, 'csv')[0]?.name, 'x'.repeat(199))
})
