import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeByWords } from './judge-spam.ts'

test('without a model, the terms of the prompt are matched as whole words', () => {
  const rule = 'casino, Search Engine\nloan,ab, ,!?'
  const cases: [string, boolean][] = [
    ['Our CASINO is open', true],
    ['casino-bonus!', true],
    ['casinos', false],
    ['We sell search  engine: optimisation', true],
    ['search for an engine', false],
    ['A loan?', true],
    ['loaned', false],
    ['ab ab ab', false],
    ['', false],
  ]
  for (const [text, expected] of cases) assert.equal(judgeByWords(rule, text), expected, text)
  assert.equal(judgeByWords('', 'Anything'), false)
})
