import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Language } from '../languages/language.ts'
import { createStemmer } from '../languages/stem.ts'
import { splitWords } from '../words/words.ts'
import { everydaySubjects } from './everyday-words.ts'

const stem = createStemmer()
const subjectsOf = (question: string, language: Language): string[] =>
  everydaySubjects(splitWords(question), language, stem).map(({ name }) => name)

test('questions in everyday words name their subject', () => {
  const asked: [Language, string, string][] = [
    ['de', 'Wann habt ihr auf?', 'hours'],
    ['de', 'Wie komme ich mit dem Bus zu euch?', 'directions'],
    ['pl', 'Ile kosztuje przesyłka?', 'price'],
    ['ru', 'Сколько стоит доставка?', 'price'],
    ['tr', 'Saat kaçta açılıyorsunuz?', 'hours'],
    ['fr', 'C’est combien ?', 'price'],
    ['fr', 'Je peux recuperer mon argent ?', 'refund'],
    ['es', '¿Me devuelven el dinero?', 'refund'],
    ['it', 'Quanto costa?', 'price'],
    ['nl', 'Hoe laat gaan jullie open?', 'hours'],
    ['pt', 'Esqueci minha senha', 'login'],
    ['ja', '何時までやっていますか', 'hours'],
    ['zh', '多少钱？', 'price'],
    ['ko', '얼마예요?', 'price'],
  ]
  for (const [language, question, subject] of asked)
    assert.ok(
      subjectsOf(question, language).includes(subject),
      `${question}: ${subjectsOf(question, language)}`,
    )
})

test('the words of the question are told apart from those of documents', () => {
  const [found] = everydaySubjects(splitWords('Am Feiertag: Wann habt ihr auf?'), 'de', stem).filter(
    ({ name }) => name === 'hours',
  )
  assert.deepEqual(found?.asked, ['wann', 'habt', 'ihr', 'auf'])
  assert.ok(found?.said.includes('öffnungszeiten'))
})

test('a question without an everyday subject has none, and neither has one in a language without a list', () => {
  assert.deepEqual(subjectsOf('Wer war Goethe?', 'de'), [])
  assert.deepEqual(subjectsOf('Hvor mye koster det?', 'no'), [])
})

test('every list has the same subjects, with words of documents and everyday words for each', () => {
  const lists = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.txt'))
  const parsed = lists.map((name) => {
    const lines = readFileSync(new URL(name, import.meta.url), 'utf8')
      .trim()
      .split('\n')
    return { name, entries: lines.map((line) => /^([a-z-]+): ([^:<]+) < ([^:<]+)$/.exec(line)) }
  })
  const namesOf = (entries: (RegExpExecArray | null)[]): string[] => entries.map((entry) => entry![1]!)
  const [first] = parsed
  const common = withoutWords(namesOf(first!.entries))
  for (const { name, entries } of parsed) {
    for (const [line, entry] of entries.entries()) assert.ok(entry, `${name}, line ${line + 1}`)
    const subjects = namesOf(entries)
    assert.equal(new Set(subjects).size, subjects.length, name)
    assert.deepEqual(withoutWords(subjects), common, name)
  }
})

/** Leaves out the subjects of single words, whose names begin with "w-": each language has its own. */
const withoutWords = (subjects: string[]): string[] => subjects.filter((one) => !one.startsWith('w-')).sort()

test('of an English question, only phrases name a subject, because word vectors connect words', () => {
  assert.deepEqual(subjectsOf('Is there a warranty?', 'en'), [])
  assert.ok(subjectsOf('Can I get my money back?', 'en').includes('refund'))
})

test('a phrase comes before a word, whatever comes first in the question', () => {
  assert.equal(subjectsOf('Versand, und wann habt ihr auf?', 'de')[0], 'hours')
})
