import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createStemmer, densePairs, guessLanguage } from '../languages/language.ts'
import { splitWords, wordsOnly } from './words.ts'

const stem = createStemmer()

test('words are folded and split at everything that is not a letter or digit', () => {
  assert.deepEqual(splitWords("Don't  RE\u00adSET the Wi-Fi №2!"), [
    'don',
    't',
    'reset',
    'the',
    'wi',
    'fi',
    'no2',
  ])
  assert.equal(wordsOnly(' How much?? '), wordsOnly('how MUCH'))
  assert.deepEqual(splitWords('Warranty¹ for 20 m²'), ['warranty', '1', 'for', '20', 'm2'])
})

test('stems ignore accents', () => {
  assert.equal(stem('demarrer', 'fr'), stem('démarrer', 'fr'))
  assert.equal(stem('seccion', 'es'), stem('secciones', 'es'))
})

test('a script without spaces results in pairs of characters', () => {
  assert.deepEqual(densePairs('東京駅'), ['東京', '京駅'])
  assert.deepEqual(densePairs('usb端子2'), ['usb', '端子', '2'])
})

test('the language of a text is recognised by its stop words', () => {
  assert.equal(guessLanguage('How can I change my address?'), 'en')
  assert.equal(guessLanguage('Wie kann ich meine Adresse ändern?'), 'de')
  for (const [language, question] of [
    ['fr', 'Comment puis-je changer mon adresse ?'],
    ['es', '¿Cómo puedo cambiar mi dirección?'],
    ['it', 'Come posso cambiare la password?'],
    ['pt', 'Como posso alterar a minha palavra-passe?'],
    ['nl', 'Hoe kan ik mijn wachtwoord wijzigen?'],
    ['pl', 'Jak mogę zmienić hasło?'],
    ['sv', 'Hur ändrar jag mitt lösenord?'],
    ['cs', 'Jak změním heslo?'],
    ['ru', 'Как изменить пароль?'],
    ['tr', 'Şifremi nasıl değiştirebilirim?'],
    ['ja', '返品できますか'],
    ['zh', '如何更改密码?'],
    ['ko', '비밀번호를 어떻게 변경하나요?'],
  ] as const)
    assert.equal(guessLanguage(question), language, question)
  assert.equal(guessLanguage(''), 'other')
})

test('any text is tokenised without an error', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
      const language = guessLanguage(text)
      for (const word of splitWords(text))
        for (const piece of [...densePairs(word), stem(word, language)]) assert.ok(piece.length > 0)
    }),
  )
})
