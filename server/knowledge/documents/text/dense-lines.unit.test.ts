import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extractDocument } from '../extract-document.ts'
import type { DocumentType } from '../extracted-document.ts'
import { isBreakEmpty } from './dense-lines.ts'

const textOf = async (type: DocumentType, text: string) =>
  (await extractDocument({ type, bytes: Buffer.from(text) })).sections
    .map((section) => section.text)
    .join('\n\n')

test('a line break is empty between characters of scripts without spaces, and a space beside others', () => {
  const empty: [string, string][] = [
    ['マイペー', 'ジ'],
    ['人', '々'],
    ['さい。', '「はい」'],
    ['他说：', '“好”'],
    ['ｱﾋﾟ', 'ｰﾙ'],
    ['𠮷', '野家'],
  ]
  for (const [left, right] of empty) assert.ok(isBreakEmpty(left, right), left + right)
  const spaced: [string, string][] = [
    ['店の', 'SIM'],
    ['word', 'word'],
    ['한국', '어'],
    ['He said', '“yes”'],
    ['', '人'],
    ['人', ''],
  ]
  for (const [left, right] of spaced) assert.ok(!isBreakEmpty(left, right), `${left} ${right}`)
})

test('lines of a Japanese paragraph in Markdown are joined without a space, and items are not joined', async () => {
  assert.equal(
    await textOf('md', '紹介コードはマイペー\nジに出ます。\n・一人一回\n・予約制'),
    '紹介コードはマイページに出ます。\n・一人一回\n・予約制',
  )
  assert.equal(
    await textOf('md', '① 예약한다.\n② 낸다.\nA line\ngoes on.'),
    '① 예약한다.\n② 낸다. A line goes on.',
  )
  const items = ['一、'.padEnd(60, '文'), '二、文です。', '・'.padEnd(58, '字'), '・字です。'].join('\n')
  assert.equal(await textOf('txt', items), items)
})
