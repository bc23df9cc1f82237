import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcomes } from '../../platform/db/tables/conversations.ts'
import { OutcomeReport, reportOf } from './outcome-report.ts'

/** Reads a text in pieces of a length, and returns what was shown after each and at the end. */
function read(text: string, length: number): { shown: string; steps: string[]; outcome: string | null } {
  const report = new OutcomeReport()
  const steps: string[] = []
  let shown = ''
  for (let at = 0; at < text.length; at += length) {
    shown += report.push(text.slice(at, at + length))
    steps.push(shown)
  }
  shown += report.flush()
  return { shown, steps, outcome: report.outcome }
}

const lengths = (text: string): number[] => [1, 2, 3, 5, 7, 11, 17, text.length]

test('each outcome is read and never shown, wherever the stream is split', () => {
  for (const outcome of outcomes) {
    const text = `It costs 52 euros [1].\n${reportOf(outcome)}`
    for (const length of lengths(text)) {
      const { shown, steps, outcome: read_ } = read(text, length)
      assert.equal(shown, 'It costs 52 euros [1].')
      assert.equal(read_, outcome)
      for (const step of steps) assert.ok(shown.startsWith(step), step)
    }
  }
})

const MALFORMED: [string, string | null][] = [
  ['<answer-outcome>answered', 'answered'],
  ['<answer-outcome>\n  Answered\n</answer-outcome>\n', 'answered'],
  ['**<answer-outcome>partly</answer-outcome>**', 'partly'],
  ['```\n<answer-outcome>partly</answer-outcome>\n```', 'partly'],
  ['`<answer-outcome>not_found</answer-outcome>`', 'not_found'],
  ['&lt;answer-outcome&gt;not found&lt;/answer-outcome&gt;', 'not_found'],
  ['[answer-outcome: refused]', 'refused'],
  ['answer_outcome: handed_over', 'handed_over'],
  ['<answer-outcome value="answered"/>', 'answered'],
  ['<answer-outcome>{"outcome": "answered"}</answer-outcome>', 'answered'],
  ['<ANSWER-OUTCOME>ANSWERED</ANSWER-OUTCOME>', 'answered'],
  ['<answer-outcome>not answered</answer-outcome>', null],
  ['<answer-outcome>answered or partly</answer-outcome>', null],
  ['<answer-outcome>well, I think so</answer-outcome>', null],
  ['<answer-outcome></answer-outcome>', null],
  ['<answer-outcome>answered</outcome>', 'answered'],
  ['</answer-outcome>', null],
]

test('a malformed report is not shown either', () => {
  for (const [report, outcome] of MALFORMED)
    for (const length of lengths(report)) {
      const result = read(`It costs 52 euros.\n\n${report}`, length)
      assert.deepEqual([result.shown.trimEnd(), result.outcome], ['It costs 52 euros.', outcome], report)
    }
})

test('a report that is cut anywhere is not shown', () => {
  const text = `It costs 52 euros.\n${reportOf('not_found')}`
  for (let end = 20; end <= text.length; end++)
    for (const length of [1, 4, end]) {
      const { shown } = read(text.slice(0, end), length)
      assert.equal(shown.trimEnd(), 'It costs 52 euros.', text.slice(0, end))
    }
})

test('the answer may go on after a report, and the last report counts', () => {
  const text = `${reportOf('partly')}\nIt costs 52 euros.\n${reportOf('answered')}\nGoodbye.`
  for (const length of lengths(text)) {
    const { shown, outcome } = read(text, length)
    assert.equal(shown.trim(), 'It costs 52 euros.\nGoodbye.')
    assert.equal(outcome, 'answered')
  }
})

test('the word alone, as the last line or in place of an answer, is a report', () => {
  const cases: [string, string, string][] = [
    ['not_found', '', 'not_found'],
    ['`not_found`.', '', 'not_found'],
    ['It costs 52 euros.\n\nanswered', 'It costs 52 euros.', 'answered'],
    ['It costs 52 euros.\n**Partly**\n', 'It costs 52 euros.', 'partly'],
  ]
  for (const [text, expected, outcome] of cases)
    for (const length of lengths(text)) {
      const result = read(text, length)
      assert.deepEqual([result.shown.trimEnd(), result.outcome], [expected, outcome], text)
    }
  for (const text of ['Answered yesterday.', 'It was refused', 'Partly\nand more'])
    for (const length of lengths(text)) assert.equal(read(text, length).shown, text)
})

test('all other text is shown unchanged', () => {
  const texts = [
    'An answer an ans\nwer: <b>answer</b> &lt;answer&gt; `a` **a** a_b [a](b) {a}',
    '| a | b |\n| - | - |\n| answer | outcome |\n\n```xml\n<answer outcome="x"/>\n```\n',
    'Is 5 < 7 and 7 > 5? The answer outcome is clear.\n\n> "A"\n# A\n- a\n~~a~~ 100 &',
  ]
  for (const text of texts) for (const length of lengths(text)) assert.equal(read(text, length).shown, text)
})

test('a text of many marks is read in a moment', () => {
  const text = `${'*'.repeat(100_000)}x${'<'.repeat(100_000)}${'\n'.repeat(100_000)}`
  const { shown } = read(text, text.length)
  assert.ok(shown.startsWith('*'.repeat(100_000)))
})
