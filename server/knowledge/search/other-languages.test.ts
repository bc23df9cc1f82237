import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeAnswer } from '../../models/builtin/compose-answer.ts'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { guessLanguage } from '../../text/languages/language.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { searchTables } from './search-tables.ts'
import { showChunks } from './tables/drop-chunks.ts'
import { createTables } from './tables/tables.ts'
import { writeChunk } from './tables/write-chunks.ts'

const words = loadWordVectors()

const GERMAN = [
  'Die Lieferung kostet 4,90 Euro und dauert drei Werktage. Ab einem Bestellwert von 50 Euro ist sie kostenlos.',
  'Sie können Ihre Ware innerhalb von 30 Tagen zurückgeben, wenn sie nicht benutzt wurde.',
  'Unser Laden ist von Montag bis Freitag von neun bis achtzehn Uhr geöffnet.',
  'Auf alle Lampen geben wir eine Garantie von fünf Jahren, die mit dem Kauf beginnt.',
]
const ENGLISH = [
  'Delivery costs 4.90 euros and takes three working days. It is free for orders of 50 euros and more.',
  'You can return your goods within 30 days if they have not been used.',
  'Our shop is open from Monday to Friday from nine to six.',
  'All lamps have a warranty of five years, which begins with the purchase.',
]

function ask(texts: readonly string[], question: string) {
  const tables = createTables(words)
  const stem = createStemmer()
  const slots = texts.map((text, at) => {
    const place = { sourceId: `s${at}`, sourceName: null, url: null, headingPath: [], page: null }
    return writeChunk(tables, { id: String(at), ...place, text }, stem)
  })
  showChunks(tables, slots)
  return composeAnswer({ question, ...searchTables(tables, question, { limit: 8 }) }, words)
}

test('a question about documents in another language is declined in its own, if nothing connects the two', () => {
  const cases: [readonly string[], string, string[]][] = [
    [GERMAN, 'en', ['How much does shipping cost?', 'Can I send things back after two weeks?']],
    [GERMAN, 'fr', ['Combien coûte la livraison ?', 'Quels sont les horaires du magasin ?']],
    [GERMAN, 'pl', ['Ile kosztuje dostawa?', 'Jak długo mogę zwrócić towar?']],
    [GERMAN, 'ru', ['Сколько стоит доставка?', 'Есть ли гарантия?']],
    [ENGLISH, 'de', ['Wie viel kostet der Versand?', 'Wann habt ihr geöffnet?']],
    [ENGLISH, 'es', ['¿Cuánto cuesta el envío?', '¿Cuándo está abierta la tienda?']],
    [ENGLISH, 'ja', ['送料はいくらですか。', '返品はできますか。']],
    [ENGLISH, 'ar', ['كم تكلفة الشحن؟', 'ما هي ساعات العمل؟']],
  ]
  for (const [texts, language, questions] of cases) {
    for (const question of questions) {
      const { band, text, cited } = ask(texts, question)
      assert.deepEqual([band, cited], ['decline', []], `${question} ${text}`)
      assert.equal(guessLanguage(text), language, `${question} ${text}`)
    }
  }
})

test('a question in a language without phrases is never answered in one that looks like it', () => {
  for (const question of ['Колко струва доставката?', 'هزینه ارسال چقدر است؟', 'Πόσο κοστίζει η αποστολή;']) {
    const { band, text } = ask(ENGLISH, question)
    assert.equal(band, 'decline', question)
    assert.ok(!['ru', 'ar'].includes(guessLanguage(text)), text)
  }
})

test('a name or a number that both languages share connects them, but not as an answer', () => {
  const { band } = ask(
    ['Das Modell ZX-4400 wiegt 12 kg und misst 80 cm.', ...GERMAN],
    'How heavy is the ZX-4400 model?',
  )
  assert.notEqual(band, 'answer')
})

test('a passage about the right product without half of what is asked is offered, and not told as the answer', () => {
  const heater = (name: string, price: number): string =>
    `Die Warmwassertherme ${name}: Lieferung frei Haus, Stromanschluss inbegriffen, ${price} Euro.`
  const others = Array.from({ length: 20 }, (_, i) => heater(`Modell ${i + 30}`, 900 + i))
  const texts = [heater('Alpenglut Eco 24', 999), ...others]
  for (const question of [
    'Wie viele Liter Warmwasser liefert die Alpenglut Eco 24?',
    'Wie viel Warmwasser liefert die Therme Alpenglut Eco 24 je Minute?',
  ]) {
    const { band, text } = ask(texts, question)
    assert.equal(band, 'closest', text)
    assert.match(text, /999 Euro/)
  }
  assert.equal(ask(texts, 'Ist der Stromanschluss der Alpenglut Eco 24 inbegriffen?').band, 'answer')
})

test('a passage without one word that is a quarter of the question is offered and not told', () => {
  const texts = [
    'Das Büro in der alten Meierei am Mühlenweg ist montags von 9 bis 12 Uhr besetzt.',
    'Der Router Fjord 5 hat vier Anschlüsse und ein Netzteil mit 12 Volt.',
    ...GERMAN,
  ]
  assert.equal(ask(texts, 'Wann ist das Büro in der alten Meierei besetzt?').band, 'answer')
  assert.equal(ask(texts, 'Welches Netzteil hat der Router Fjord 5?').band, 'answer')
  for (const question of [
    'Gibt es beim Büro in der alten Meierei Parkplätze?',
    'Welche Farbe hat der Router Fjord 5?',
  ]) {
    const { band, text } = ask(texts, question)
    assert.equal(band, 'closest', `${question} ${text}`)
  }
})

test('Arabic words are found however their last letter is written', () => {
  const stem = createStemmer()
  for (const [one, other] of [
    ['الجمعة', 'الجمعه'],
    ['مستشفى', 'مستشفي'],
    ['سيارة', 'سيارته'],
  ])
    assert.equal(stem(one!, 'ar'), stem(other!, 'ar'))
})

test('a code of the question outweighs its other words', () => {
  const turkish = [
    'Parça No: YP-1075; Parça adı: Baca fanı; Uyumlu cihaz: Hermetik kombi; Parça garantisi: 12 ay; Not: E05 hatası',
    'Arayan müşteriye sırayla sor: elektrik var mı, gaz vanası açık mı, kartlı sayaçta kredi var mı, basınç kaç? Yarısı burada çözülüyor, boşuna kayıt açma. Hata kodları: F28 ateşleme yok, gaz vanası ve sayaç. F22 su basıncı düşük, doldurma musluğunu tarif et. A01 alev yok, F28 gibi davran. Karbonmonoksit alarmı çalan müşteri pencere açsın, cihazı kapatsın, dışarı çıksın. Usta ölçmeden kimse cihazı açmaz. Fiyat sorulursa listeden söyle, pazarlık yok, kampanya sorulursa siteye yönlendir. Yaşlı ve bebekli evler önce gelir.',
    'Servis kaydını telefonla veya web formundan açtırabilirsiniz. Cihazın markası ve modeli yeterlidir.',
    'Mağaza hafta içi 09.00 – 19.00 arası açıktır.',
    ...Array.from(
      { length: 80 },
      (_, i) => `Ürün ${i} iki yıl garantilidir ve ${i} lira kargo ile gönderilir.`,
    ),
  ]
  const [first = ''] = ask(turkish, 'F22 hatası').text.split('[1]')
  assert.match(first, /F22 su basıncı/)
})
