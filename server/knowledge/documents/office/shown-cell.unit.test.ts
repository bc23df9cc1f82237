import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utils, write } from '@e965/xlsx'
import { extractDocument } from '../extract-document.ts'

type Cell = readonly [value: number, format: string, shown: string]

async function shownIn(words: string, cells: readonly Cell[], date1904 = false): Promise<string[]> {
  const sheet = utils.aoa_to_sheet([
    ['Nr', words, 'X'],
    ...cells.map(([value], at) => [`${words} ${at}`, value, 'x']),
  ])
  for (const [at, [, format]] of cells.entries()) sheet[`B${at + 2}`].z = format
  const book = utils.book_new()
  utils.book_append_sheet(book, sheet, 'Sheet1')
  book.Workbook = { WBProps: { date1904 } }
  const bytes = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer
  const { sections } = await extractDocument({ type: 'xlsx', bytes })
  return sections
    .flatMap(({ text }) => text.split('\n'))
    .map((row) => row.slice(row.indexOf(`${words}: `) + words.length + 2, row.lastIndexOf('; X')))
}

const cases: [what: string, words: string, cells: Cell[]][] = [
  [
    'months and weekdays are in the language of the format',
    'Begins',
    [
      [46_096, '[$-407]d. mmmm yyyy', '15. März 2026'],
      [46_096, '[$-fr-FR]dddd d mmmm yyyy;@', 'dimanche 15 mars 2026'],
      [46_096, '[$-804]yyyy"年"m"月"d"日"dddd', '2026年3月15日星期日'],
    ],
  ],
  [
    'or in that of the workbook',
    'Die Termine sind für alle und nicht nur für Mitglieder',
    [
      [46_096, 'd. mmmm yyyy', '15. März 2026'],
      [46_096, '[$-F800]dddd, d. mmmm yyyy', 'Sonntag, 15. März 2026'],
    ],
  ],
  [
    'letters need no quotes, and a format that nobody can use costs only itself',
    'The size of the bags that we have for you',
    [
      [46_096, 'yyyy年m月d日', '2026年3月15日'],
      [46_096, 'd mmmm yyyy г.', '15 March 2026 г.'],
      [21.5, '0.0°C', '21.5°C'],
      [25, '0 m²', '25'],
      [3, '0 Stk', '3'],
    ],
  ],
  [
    'numbers have the separators of the file, whatever their currency',
    'Price',
    [
      [1234.5, '#,##0.00\\ [$€-407]', '1,234.50 €'],
      [-12, '#,##0;[Red]-#,##0', '-12'],
      [0.5, '# ?/?', '1/2'],
      [491_701_234_567, 'General', '491701234567'],
    ],
  ],
  [
    'numbers have the separators of its language',
    'Die Preise sind für alle und nicht nur für Mitglieder',
    [
      [1234.5, '#,##0.00\\ [$€-407]', '1.234,50 €'],
      [0.125, '0.0%', '12,5%'],
      [2.5, 'General', '2,5'],
      [4_006_381_333_931, '0', '4006381333931'],
    ],
  ],
  [
    'with Latin digits, Arabic texts have those of English',
    'الأسعار للجميع وليس للأعضاء فقط',
    [[1234.5, '#,##0.00', '1,234.50']],
  ],
]

for (const [what, words, cells] of cases) {
  test(`a workbook: ${what}`, async () => {
    assert.deepEqual(
      await shownIn(words, cells),
      cells.map(([, , shown]) => shown),
    )
  })
}

test('a workbook with the date system of 1904 shows its dates, and durations as they are', async () => {
  const cells: Cell[] = [
    [44_634, 'dd.mm.yyyy', '15.03.2026'],
    [44_634.5, 'yyyy-mm-dd hh:mm', '2026-03-15 12:00'],
    [1.5, '[h]:mm', '36:00'],
    [0.5, 'hh:mm', '12:00'],
  ]
  assert.deepEqual(
    await shownIn('Begins', cells, true),
    cells.map(([, , shown]) => shown),
  )
})
