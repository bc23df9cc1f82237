import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { charsetOf, declaredCharset, decodeText } from './decode-text.ts'

const fixture = (name: string) => readFileSync(new URL(`../../../../test/fixtures/${name}`, import.meta.url))
const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16()

test('windows-1252 is the fallback, and its special characters are right', () => {
  assert.equal(
    decodeText(fixture('windows-1252.txt')),
    'Größe: 12 cm – „günstig“ für 5 €.\n\nÖffnungszeiten: Mo–Fr.\n',
  )
})

test('UTF-16 is recognised by its byte order mark or its zero bytes', () => {
  const text = 'Grüße aus Köln'
  assert.equal(decodeText(Buffer.from(`\ufeff${text}`, 'utf16le')), text)
  assert.equal(decodeText(bigEndian(`\ufeff${text}`)), text)
  assert.equal(decodeText(Buffer.from(text, 'utf16le')), text)
  assert.equal(decodeText(bigEndian(text)), text)
})

test('a declared charset is used, unless it is a server default for UTF-8 content', () => {
  assert.equal(decodeText(Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]), 'shift_jis'), 'テスト')
  assert.equal(decodeText(Buffer.from('Grüße'), 'ISO-8859-1'), 'Grüße')
  assert.equal(decodeText(Buffer.from([0xe4]), 'iso-8859-1'), 'ä')
  assert.equal(decodeText(Buffer.from('ab'), 'no-such-charset'), 'ab')
  assert.equal(decodeText(Buffer.from([0xef, 0xbb, 0xbf, 0x61]), 'iso-8859-1'), 'a')
})

test('the charset is taken from the header, then from the page', () => {
  const page = (meta: string) => Buffer.from(`<html><head><title>x</title>${meta}</head>`)
  assert.equal(declaredCharset('text/html; charset="Shift_JIS"', page('<meta charset=utf-8>')), 'Shift_JIS')
  assert.equal(declaredCharset('text/html', page('<meta charset="euc-kr">')), 'euc-kr')
  const old = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">'
  assert.equal(declaredCharset(undefined, page(old)), 'windows-1251')
  assert.equal(declaredCharset(undefined, page('<meta charset="utf-16">')), 'utf-8')
  assert.equal(declaredCharset('text/plain'), null)
})

test('any UTF-8 text is decoded unchanged, except for normalised line ends', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      fc.pre(!text.startsWith('\ufeff') && charsetOf(Buffer.from(text)) === 'utf-8')
      assert.equal(decodeText(Buffer.from(text)), text.replace(/\r\n?/g, '\n'))
    }),
  )
})
