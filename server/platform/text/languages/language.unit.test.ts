import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessLanguage, type Language } from './language.ts'

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
    // In the Latin script, two or three words may be too few.
    for (const question of questions) {
      const guessed = guessLanguage(question)
      if (SCRIPT.test(question) || guessed !== 'other') assert.equal(guessed, language, question)
    }
  }
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
