import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWordVectors } from '../../../models/static/word-vectors.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { createTables } from '../tables/tables.ts'
import { formsAt, gramsAt, lettersAt, numberOfWord } from '../tables/word-table.ts'
import { writeChunk } from '../tables/write-chunks.ts'
import { analyseQuestion } from './analyse-question.ts'
import { createLexicon, gramsOf } from './word-forms.ts'

const words = loadWordVectors()

test('a word keeps its number and its forms, however many other words follow', () => {
  const table = createLexicon(words).in(['en', 'other'])
  const met = [
    ...Array.from({ length: 30_000 }, (_, row) => words.word(row)),
    ...Array.from({ length: 5_000 }, (_, i) => `part${i}`),
    ...['größe', '東京', 'x'.repeat(300), ''],
  ]
  const numbers = met.map((word) => numberOfWord(table, word))
  assert.deepEqual(
    numbers,
    met.map((_, i) => i),
  )
  assert.deepEqual(
    met.map((word) => numberOfWord(table, word)),
    numbers,
  )

  const partsOf = (word: string) => {
    const number = numberOfWord(table, word)
    const bounds = [gramsAt(number), formsAt(number), lettersAt(number + 1)].map((at) => table.bounds[at]!)
    const [grams, forms] = [table.pool.slice(bounds[0], bounds[1]), table.pool.slice(bounds[1], bounds[2])]
    return { row: table.rows[number], grams, forms: [...forms] }
  }
  const form = (stem: string) => table.formNumbers.get(stem)
  assert.deepEqual(partsOf('warranties'), {
    row: words.row('warranties'),
    grams: gramsOf('warranti'),
    forms: [form('warranti'), form('warranties')],
  })
  assert.deepEqual(partsOf('part4999'), { row: -1, grams: gramsOf('part4999'), forms: [form('part4999')] })
  assert.deepEqual(partsOf('x'.repeat(300)), { row: -1, grams: gramsOf(''), forms: [] })
})

test('a stop word of every language has no forms', () => {
  const table = createLexicon(words).in(['en'])
  const the = numberOfWord(table, 'the')
  assert.equal(table.bounds[formsAt(the)], table.bounds[lettersAt(the + 1)])
})

test('an index with other languages has other forms; when the cache is full, words are added anew', () => {
  const lexicon = createLexicon(words)
  const english = lexicon.in(['en'])
  assert.equal(lexicon.in(['en']), english)
  assert.notEqual(lexicon.in(['de']), english)
  for (let i = 0; english.count < 120_000; i++) numberOfWord(english, `${i}`)
  assert.notEqual(lexicon.in(['en']), english)
  assert.equal(numberOfWord(english, '7'), 7)
})

test('the first form of a word is its stem in the language of most chunks, whatever chunk came first', () => {
  const tables = createTables(words)
  const stem = createStemmer()
  const texts = [
    'x = 1; y = 2; z = x + y',
    'Les médicaments sont dans la pharmacie de la maison, et la clé est chez le gardien.',
    'Le gardien de la maison a une clé pour chacune des portes, et il est là le matin.',
  ]
  for (const [i, text] of texts.entries())
    writeChunk(
      tables,
      { id: `${i}`, sourceId: 's', sourceName: null, url: null, headingPath: [], page: null, text },
      stem,
    )
  const { terms } = analyseQuestion('Où sont les médicaments ?', tables, null)
  assert.equal(terms[0]!.forms[0], 'medic')
})

test('a separable verb whose part ends the clause is found as one word, if the documents contain it', () => {
  const tables = createTables(words)
  const text = 'Wenn eine Datei gelöscht ist, können Sie sie aus der letzten Sicherung wiederherstellen.'
  const chunk = { id: '1', sourceId: 's', sourceName: null, url: null, headingPath: [], page: null, text }
  writeChunk(tables, chunk, createStemmer())
  const formsOf = (question: string) =>
    analyseQuestion(question, tables, null).terms.flatMap(({ forms }) => forms)
  assert.ok(formsOf('Und wie stelle ich die Daten wieder her?').includes('wiederherstell'))
  assert.ok(!formsOf('Wie stelle ich die Daten um?').some((form) => form.startsWith('um')))
})
