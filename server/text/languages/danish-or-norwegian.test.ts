import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitWords } from '../words/words.ts'
import { languageOfQuestion } from './language-of-question.ts'

const NORWEGIAN = [
  'Hva koster frakten?',
  'Hvor mye koster det å sende en pakke?',
  'Hvordan kan jeg endre passordet?',
  'Kan jeg betale med kort?',
  'Hvor lang er leveringstiden?',
  'Når får jeg pengene tilbake?',
]
const DANISH = [
  'Hvad koster fragten?',
  'Hvor meget koster det at sende en pakke?',
  'Hvordan kan jeg ændre min adgangskode?',
  'Kan jeg betale med kort?',
  'Hvor lang er leveringstiden?',
  'Hvornår får jeg mine penge tilbage?',
]

test('Norwegian and Danish questions are told apart by spelling, and by the documents where both spell alike', () => {
  for (const question of NORWEGIAN)
    assert.equal(languageOfQuestion(splitWords(question), 'no'), 'no', question)
  for (const question of DANISH) assert.equal(languageOfQuestion(splitWords(question), 'da'), 'da', question)
})

test('the spelling outweighs the language of the documents', () => {
  assert.equal(languageOfQuestion(splitWords('Hva gjør jeg etter et kjøp?'), 'da'), 'no')
  assert.equal(languageOfQuestion(splitWords('Hvad gør jeg efter et køb?'), 'no'), 'da')
  assert.equal(languageOfQuestion(splitWords('Hvordan kan jeg bytte språk?'), 'en'), 'no')
})
