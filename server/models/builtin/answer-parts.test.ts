import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quotablePassage } from '../../../test/quotable-passage.ts'
import { loadWordVectors } from '../static/word-vectors.ts'
import { answerParts } from './answer-parts.ts'
import { phrasesFor } from './phrases/phrases.ts'

const words = loadWordVectors()
const PASSAGES = [
  quotablePassage('Refunds take five days. The money goes back to your card.'),
  quotablePassage('The shop in Leeds is open from nine to five.'),
]
const { sayPerson, noAnswerTo, closest } = phrasesFor('en')

function answered(confidences: number[], mayOffer = true) {
  const questions = ['how long do refunds take', 'when is the shop open']
  return answerParts(
    {
      question: questions.join(' and '),
      confidence: Math.max(...confidences),
      passages: PASSAGES,
      parts: questions.map((question, i) => ({ question, confidence: confidences[i]!, places: [i] })),
      mayOffer,
    },
    words,
  )
}

test('each of several questions is answered under its own words, with numbers that count through', () => {
  const answer = answered([0.9, 0.9])
  assert.deepEqual(answer?.cited, [0, 1])
  assert.equal(
    answer.text,
    `**How long do refunds take**\n\n${PASSAGES[0]!.text} [1]\n\n**When is the shop open**\n\n${PASSAGES[1]!.text} [2]`,
  )
})

test('after all answers, it is said once that a person can be asked for if one of them is unsure or missing', () => {
  for (const confidences of [
    [0.9, 0.3],
    [0.3, 0.3],
    [0.9, 0],
  ]) {
    const text = answered(confidences)?.text ?? ''
    assert.equal(text.split(sayPerson).length, 2, text)
    assert.ok(text.endsWith(`\n\n${sayPerson}`), text)
    assert.ok(!answered(confidences, false)?.text.includes(sayPerson))
  }
  assert.ok(answered([0.9, 0.3])?.text.includes(closest))
  assert.ok(answered([0.9, 0])?.text.includes(noAnswerTo.replace('{question}', 'When is the shop open')))
  assert.equal(answered([0, 0]), null)
  assert.equal(answered([0.3, 0.4])?.score, 0.4)
})
