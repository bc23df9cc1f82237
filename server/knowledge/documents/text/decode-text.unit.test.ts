import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { CHARSETS } from './charsets.ts'
import { charsetOf, declaredCharset, decodeAs, decodeText } from './decode-text.ts'

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

const TABLES: Record<string, string[]> = {
  shift_jis: ['名前,年齢,住所\n佐藤太郎,30,東京都港区\n', '商品名,価格\nランプ,1200\n'],
  'euc-jp': ['名前,年齢\n佐藤太郎,30\n営業時間は九時からです。\n'],
  gb18030: ['姓名,年龄,城市\n张三,30,北京\n李四,25,上海\n'],
  big5: ['姓名,年齡,城市\n張三,30,台北\n李四,25,高雄\n'],
  'euc-kr': ['이름,나이,도시\n김철수,30,서울\n이영희,25,부산\n'],
  'windows-1251': ['Имя;Город\nИван;Москва\n', 'Товар;Цена\nЛампа;100\n'],
  'koi8-r': ['Имя;Возраст;Город\nИван;30;Москва\n'],
  'windows-1250': [
    'Ime;Grad\nŽeljko Čović;Šibenik\n',
    'Jméno;Věk\nJiří Novák;30\n',
    'Imię;Miasto\nŁukasz Wójcik;Łódź\n',
    'Név;Kor;Város\nKovács Győző;30;Győr\n',
  ],
  'windows-1252': [
    'Name;City\nBob;Köln\n',
    'Nombre;Ciudad\nJosé Muñoz;Córdoba\n¿Cuándo abre? Mañana\n',
    'Nom;Ville\nHélène;Besançon\n',
    'Item;Price\nLamp;£5\nA;20 °C\n',
    'Nome;Città\nNiccolò;Forlì\nperché è così\n',
    'José Muñoz;Córdoba\n¿Cuándo abre? Mañana\n',
  ],
  macintosh: [
    'Name;Stadt\nJürgen Größe;Köln\nÖffnungszeiten täglich von 9 bis 18 Uhr\nMüller;Düsseldorf\n',
    'Nom;Âge\nFrançois Lefèvre;30\nHélène Gérard;22\n',
  ],
  'windows-1253': ['Όνομα;Πόλη\nΓιώργος;Αθήνα\n'],
  'windows-1254': ['İsim;Yaş\nAyşe Yıldız;30\n'],
  'windows-1255': ['שם;עיר\nדוד כהן;תל אביב\n'],
  'windows-1256': ['الاسم;المدينة\nمحمد علي;القاهرة\n'],
  'windows-1257': ['Vardas;Amžius\nŽygimantas Šiaučiūnas;30\n'],
  'iso-8859-2': ['Jméno;Město\nŽofie Šťastná;Plzeň\nOtevřeno je denně, také v neděli.\n'],
  'iso-8859-5': ['Имя;Город\nИван;Москва\n'],
  cp850: ['Name;Straße;Größe\nJürgen Müller;Königsallee;groß\nÖffnungszeiten täglich von neun bis fünf\n'],
  cp852: ['Imię;Miasto\nŁukasz Wójcik;Łódź\nŚwięta są wolne, zamówienia później.\n'],
  'windows-874': ['ชื่อ;อายุ\nสมชาย;30\n'],
}

test('short tables without a label are read in the charset in which they were saved', () => {
  for (const [charset, texts] of Object.entries(TABLES)) {
    for (const text of texts) {
      const bytes = iconv.encode(text, charset)
      assert.equal(decodeText(bytes), text, `${charset} as ${charsetOf(bytes)}`)
    }
  }
})

test('the first telling byte may come late', () => {
  const text = `${'plain;row;1\n'.repeat(20_000)}Имя;Город\nИван;Москва\n`
  assert.equal(decodeText(iconv.encode(text, 'windows-1251')), text)
})

test('a label that the bytes contradict is not used, and one stray byte contradicts nothing', () => {
  assert.equal(decodeText(Buffer.from('价格表：灯'), 'gb2312'), '价格表：灯')
  const russian = 'Товар и цена: лампа стоит сто рублей'
  assert.equal(decodeText(iconv.encode(russian, 'windows-1251'), 'utf-8'), russian)
  assert.equal(decodeText(iconv.encode(russian, 'windows-1251'), 'gb2312'), russian)
  const cut = Buffer.concat([Buffer.from('Größe, Füße, Öl, äöü, Grüße '.repeat(4)), Buffer.from([0xc3])])
  assert.match(decodeText(cut), /^Größe, Füße/)
})

test('a label that nobody has looked at gives way to another script, and the label may stand late', () => {
  const russian = 'Товар и цена: лампа стоит сто рублей'
  assert.equal(decodeText(iconv.encode(russian, 'windows-1251'), 'iso-8859-1'), russian)
  assert.equal(decodeText(iconv.encode('Łódź', 'windows-1252'), 'windows-1252'), '?ód?')
  const page = (meta: string) => Buffer.from(`<html><head>${'<!-- x -->'.repeat(900)}${meta}</head>`)
  assert.equal(declaredCharset(undefined, page('<meta charset="windows-1251">')), 'windows-1251')
  assert.equal(declaredCharset(undefined, page('<meta charset="unicode">')), 'utf-8')
})

test('signs alone say nothing about the charset', () => {
  for (const text of ['20 °C', '£5 – today', '© 2026 ACME', '3 × 4 m²', '5 €', 'it’s “open”'])
    assert.equal(decodeText(iconv.encode(text, 'windows-1252')), text)
})

test('every charset that can be chosen can be decoded', () => {
  for (const charset of CHARSETS)
    assert.equal(
      decodeAs(Buffer.from('plain'), charset).length,
      charset.startsWith('utf-16') ? 3 : 5,
      charset,
    )
})

test('a picture that is written into a page, and unfinished elements, do not take long', () => {
  const page = `café <img src="data:image/png;base64,${'iVBORw0KGgo'.repeat(5_500)}"> déjà`
  assert.equal(decodeText(Buffer.from(page, 'latin1')), page)
  assert.equal(declaredCharset(undefined, Buffer.from('<meta'.repeat(200_000))), null)
})
