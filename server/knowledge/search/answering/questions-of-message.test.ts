import assert from 'node:assert/strict'
import { test } from 'node:test'
import { questionsOfMessage } from './questions-of-message.ts'

const questions = (text: string): string[] | undefined =>
  questionsOfMessage(text)?.map(({ question }) => question)

test('questions that can stand alone are separated', () => {
  const several: [message: string, questions: string[]][] = [
    [
      'How much is delivery? And what are your opening hours?',
      ['How much is delivery?', 'what are your opening hours?'],
    ],
    [
      'When are you open and how much does delivery cost?',
      ['When are you open?', 'how much does delivery cost?'],
    ],
    [
      'Was kostet der Versand? Wann hat der Laden geöffnet?',
      ['Was kostet der Versand?', 'Wann hat der Laden geöffnet?'],
    ],
    [
      'Combien coûte la livraison ? Comment retourner un article ?',
      ['Combien coûte la livraison ?', 'Comment retourner un article ?'],
    ],
    ['送料はいくらですか？返品はできますか？', ['送料はいくらですか？', '返品はできますか？']],
  ]
  for (const [message, expected] of several) assert.deepEqual(questions(message), expected, message)
})

test('a question that depends on the one before stays with it, and one question is searched as written', () => {
  for (const message of [
    'How much is delivery?',
    'Do you deliver to Austria? How much is it?',
    'Is it open? Really?',
    'I have a dog. Can I bring the dog?',
    'How do I wash and iron the shirt?',
    'Who? What? When?',
  ])
    assert.equal(questions(message), undefined, message)
})

test('in a long message, the questions are searched, with what was said before them', () => {
  const told = `I have been a customer for many years and was always happy. ${'My lamp is fine so far. '.repeat(12)}`
  assert.equal(questionsOfMessage('¿Por qué me preguntan en qué país vivo?'), null)
  const [asked] = questionsOfMessage(`${told} Now I moved house. How do I change my address?`)!
  assert.equal(asked!.question, 'How do I change my address?')
  assert.ok(asked!.before!.endsWith('Now I moved house.') && asked!.before!.length <= 300)
})
