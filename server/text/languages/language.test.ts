import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitWords } from '../words/words.ts'
import { guessLanguage, weighExpected } from './language.ts'
import { languageOfQuestion } from './language-of-question.ts'
import type { Language } from './stop-words.ts'

const SCRIPT = /[^\p{sc=Latin}\P{L}]/u

/** Questions of customers, by language. */
const QUESTIONS: [Language, string[]][] = [
  [
    'uk',
    ['Скільки коштує доставка?', 'Як повернути товар?', 'Чи є у вас гарантія на лампу?', 'Коли ви працюєте?'],
  ],
  [
    'ru',
    [
      'Сколько стоит доставка?',
      'Как вернуть товар, если он не подошёл?',
      'Есть ли гарантия на лампу?',
      'Вы работаете по выходным?',
    ],
  ],
  [
    'bg',
    [
      'Колко струва доставката?',
      'Как мога да върна стоката?',
      'Имате ли гаранция за лампата?',
      'Кога работите?',
    ],
  ],
  ['el', ['Πόσο κοστίζει η αποστολή;', 'Πώς επιστρέφω ένα προϊόν;', 'Τι ώρα ανοίγετε;']],
  ['he', ['כמה עולה המשלוח?', 'איך אפשר להחזיר מוצר?', 'מה שעות הפתיחה?']],
  ['hi', ['डिलीवरी का खर्च कितना है?', 'मैं सामान कैसे वापस करूँ?', 'दुकान कब खुलती है?']],
  ['fa', ['هزینه ارسال چقدر است؟', 'چگونه می‌توانم کالا را پس بدهم؟', 'ساعت کار شما چیست؟']],
  ['ar', ['كم تكلفة الشحن؟', 'كيف يمكنني إرجاع المنتج؟', 'ما هي ساعات العمل؟']],
  ['hu', ['Mennyibe kerül a szállítás?', 'Hogyan küldhetem vissza a terméket?', 'Mikor vannak nyitva?']],
  [
    'ro',
    [
      'Cât costă livrarea?',
      'Cum pot returna un produs?',
      'Ce program aveți sâmbăta?',
      'Cât timp am pentru a returna lampa?',
    ],
  ],
  ['pl', ['Ile kosztuje dostawa?', 'Jak mogę zwrócić towar?']],
  ['tr', ['Kargo ücreti ne kadar?', 'Ürünü nasıl iade edebilirim?']],
  ['fr', ['Combien coûte la livraison ?', 'Comment retourner un article ?']],
  ['it', ['Quanto costa la spedizione?', 'Come posso restituire un articolo?']],
  ['es', ['¿Cuánto cuesta el envío?', '¿Cómo puedo devolver un producto?']],
]

test('the language of a question is recognised, even in a script that others share', () => {
  for (const [language, questions] of QUESTIONS) {
    for (const question of questions) {
      if (SCRIPT.test(question)) assert.equal(guessLanguage(question), language, question)
      assert.equal(languageOfQuestion(splitWords(question), 'en'), language, question)
    }
  }
})

test('words that languages share take that of the documents, and none if that is another one', () => {
  const price = splitWords('цена')
  for (const written of ['ru', 'bg', 'uk'] as const) assert.equal(languageOfQuestion(price, written), written)
  assert.equal(weighExpected(price, new Set(['bg'])).language, 'bg')
  assert.equal(guessLanguage('цена'), 'other')
  assert.equal(languageOfQuestion(price, 'en'), 'en')
})

test('a language that is not known is not taken for another one of its script', () => {
  for (const text of [
    'Колико кошта достава и када ће стићи моја пошиљка?',
    'Жеткізу құны қанша тұрады және қашан келеді?',
    'ڈیلیوری کی قیمت کتنی ہے اور یہ کب پہنچے گی؟',
    'वितरणाची किंमत किती आहे आणि ते कधी मिळेल? वेळ सांगा',
  ])
    assert.equal(guessLanguage(text), 'other', text)
})

test('a few words in another language, or like another language, do not hide that of the documents', () => {
  const cases: [question: string, written: Language, said: string[]][] = [
    ['tej 5k price', 'en', ['tej']],
    ['deepak plus emi', 'en', ['deepak', 'plus']],
    ['strassenlaterne defekt melden wie lange', 'de', []],
    ['preço livro brücke b1', 'pt', ['brücke']],
    ['DASK poliçesini program üzerinden yenileyebiliyor muyuz?', 'tr', []],
    ['check-out posticipato costo', 'it', ['check', 'out']],
    ['telconsulta horario', 'pt', ['horario']],
    ['Стоит ли камера наблюдения возле постамата', 'ru', []],
    ['年末年始 休業', 'ja', []],
    ['Orora X5 Pro 値段', 'ja', ['orora', 'x5', 'pro']],
  ]
  for (const [question, written, said] of cases)
    assert.equal(
      languageOfQuestion(splitWords(question), written, (word) => said.includes(word)),
      written,
      question,
    )
  // A question in another language stays one, even if the documents have some of its words.
  for (const [question, language] of [
    ['Quanto costa il plus?', 'it'],
    ['Was kostet Deepak Plus?', 'de'],
    ['Prix ?', 'fr'],
    ['送料はいくらですか', 'ja'],
    ['运费是多少', 'zh'],
  ] as [string, Language][])
    assert.equal(
      languageOfQuestion(splitWords(question), 'en', (word) => word === 'plus'),
      language,
      question,
    )
})
