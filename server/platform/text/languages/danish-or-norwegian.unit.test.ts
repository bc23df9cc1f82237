import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessLanguage } from './language.ts'

const NORWEGIAN = [
  'Hva koster frakten?',
  'Hvor mye koster det å sende en pakke?',
  'Hvordan kan jeg endre passordet?',
  'Når får jeg pengene tilbake?',
]
const DANISH = [
  'Hvad koster fragten?',
  'Hvor meget koster det at sende en pakke?',
  'Hvordan kan jeg ændre min adgangskode?',
  'Hvornår får jeg mine penge tilbage?',
]

test('Norwegian and Danish questions are told apart by spelling', () => {
  for (const question of NORWEGIAN) assert.equal(guessLanguage(question), 'no', question)
  for (const question of DANISH) assert.equal(guessLanguage(question), 'da', question)
})

test('the spelling outweighs the language of the documents', () => {
  assert.equal(guessLanguage('Hva gjør jeg etter et kjøp?'), 'no')
  assert.equal(guessLanguage('Hvad gør jeg efter et køb?'), 'da')
  assert.equal(guessLanguage('Hvordan kan jeg bytte språk?'), 'no')
})
