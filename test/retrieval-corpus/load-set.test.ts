import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStemmer } from '../../server/text/languages/stem.ts'
import { isStopWord } from '../../server/text/languages/stop-words.ts'
import { visibleText } from '../../server/text/words/visible-text.ts'
import { splitWords } from '../../server/text/words/words.ts'
import { ENGLISH_SETS, GERMAN_SET, isExpected, loadSet } from './load-set.ts'

const SETS = [...ENGLISH_SETS, GERMAN_SET]
/** The sets with the questions that the weights were fitted to, and with those that nothing was fitted to. */
const ALL = [false, true].flatMap((unseen) => SETS.map((name) => loadSet(name, { unseen })))

test('the sets have the stated sizes', () => {
  for (const name of SETS) assert.ok(loadSet(name).chunks.length >= 300, name)
  const english = ENGLISH_SETS.map((name) => loadSet(name))
  const answerable = english.flatMap((set) => set.answerable)
  assert.ok(answerable.length >= 150)
  assert.equal(answerable.filter(({ kind }) => kind === 'paraphrase').length * 3, answerable.length)
  assert.ok(english.flatMap((set) => set.unanswerable).length >= 40)
  const german = loadSet(GERMAN_SET)
  assert.ok(german.answerable.length >= 50)
  assert.ok(german.unanswerable.length >= 14)
})

test('every section that a question expects exists', () => {
  for (const { name, chunks, answerable } of ALL) {
    for (const question of answerable) {
      for (const expect of question.expect ?? []) {
        const sections = new Set(
          chunks
            .filter((chunk) => isExpected(chunk, { ...question, expect: [expect] }))
            .map(({ headingPath }) => headingPath.join('>')),
        )
        assert.equal(sections.size, 1, `${name}: ${expect}`)
      }
    }
  }
})

test('a paraphrase shares no word with its answer', () => {
  const stem = createStemmer()
  for (const { name, chunks, answerable } of ALL) {
    const language = name === GERMAN_SET ? 'de' : 'en'
    const stems = (text: string): string[] =>
      splitWords(text)
        .filter((word) => !isStopWord(word, language))
        .map((word) => stem(word, language))
    for (const question of answerable.filter(({ kind }) => kind === 'paraphrase')) {
      const answers = chunks.filter((chunk) => isExpected(chunk, question))
      const said = new Set(
        answers.flatMap(({ sourceName, headingPath, text }) =>
          stems([sourceName ?? '', ...headingPath, visibleText(text)].join(' ')),
        ),
      )
      assert.deepEqual(
        stems(question.question).filter((word) => said.has(word)),
        [],
        question.question,
      )
    }
  }
})
