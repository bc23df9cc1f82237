import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Section } from '../extracted-document.ts'
import { chunkSections } from './chunk-sections.ts'

const section = (text: string, headingPath: string[] = [], page: number | null = null): Section => ({
  headingPath,
  page,
  text,
})
const sentence = (n: number) => `Sentence number ${n} says that device ${n * 37} is cleaned on day ${n}.`
const prose = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => sentence(from + n)).join(' ')

test('short sections become one chunk each, with heading, page and place', () => {
  const chunks = chunkSections([section('One.\n\nTwo.', ['A', 'B'], 3), section('Three.', ['A'], 4)])
  assert.deepEqual(chunks, [
    { headingPath: ['A', 'B'], page: 3, text: 'One.\n\nTwo.', ordinal: 0 },
    { headingPath: ['A'], page: 4, text: 'Three.', ordinal: 1 },
  ])
  assert.deepEqual(chunkSections([]), [])
})

test('long prose is cut between sentences and overlaps by one', () => {
  const chunks = chunkSections([section(prose(1, 60))])
  assert.ok(chunks.length >= 4 && chunks.length <= 6, String(chunks.length))
  for (const [at, { text }] of chunks.entries()) {
    assert.match(text, /^Sentence .*\.$/)
    assert.ok(text.length <= 900)
    const last = sentence(Number(/.*number (\d+)/.exec(text)![1]))
    const next = chunks[at + 1]
    if (next) assert.ok(next.text.startsWith(last), next.text)
  }
})

test('a cut falls between paragraphs when one is near, and then nothing overlaps', () => {
  const [first, second] = [prose(1, 9), prose(20, 9)]
  const chunks = chunkSections([section(`${first}\n\n${second}`)])
  assert.deepEqual(
    chunks.map(({ text }) => text),
    [first, second],
  )
})

test('table rows and list items stay whole', () => {
  const rows = Array.from(
    { length: 80 },
    (_, n) => `Name: Lamp no. ${n}. Price: ${n} euros. Colour: red. End ${n}`,
  )
  const chunks = chunkSections([section(`Prices.\n\n${rows.join('\n')}`)])
  const lines = chunks.flatMap(({ text }) => text.split('\n')).filter((line) => line.startsWith('Name'))
  assert.deepEqual(lines, rows)
  assert.ok(chunks.length > 3)
})

test('unbroken text is cut hard, but never inside a character', () => {
  for (const letter of ['x', '😀', '👩‍👩‍👧', 'é', '漢']) {
    const text = letter.repeat(3000)
    const chunks = chunkSections([section(text)], { overlapSentences: 0 })
    assert.equal(chunks.map((chunk) => chunk.text).join(''), text)
    for (const chunk of chunks) {
      assert.ok(chunk.text.length <= 1400 && chunk.text.isWellFormed())
      assert.equal(chunk.text.length % letter.length, 0, letter)
    }
  }
})

test('Japanese sentences are kept apart and joined without spaces', () => {
  const text = '送料は全国一律五百円です。返品は三十日以内に受け付けます。'.repeat(60)
  const chunks = chunkSections([section(text)], { overlapSentences: 0 })
  assert.equal(chunks.map((chunk) => chunk.text).join(''), text)
  for (const chunk of chunks) assert.match(chunk.text, /。$/)
})

test('code keeps its indentation, each piece of code its fences, and each chunk the anchor of its section', () => {
  const code = Array.from({ length: 90 }, (_, n) => `  step_${n}(with_a_name, and_${n})`)
  const text = `Run this:\n\n\`\`\`py\ndef all():\n${code.join('\n')}\n\`\`\`\n\nThen wait.`
  const chunks = chunkSections([{ ...section(text, ['A']), anchor: 'a-1' }])
  assert.ok(chunks.length > 2)
  for (const chunk of chunks) {
    const fences = chunk.text.split('\n').filter((line) => line.startsWith('```'))
    assert.equal(fences.length % 2, 0, chunk.text)
    assert.ok(chunk.text.length <= 1400)
    assert.equal(chunk.anchor, 'a-1')
  }
  assert.deepEqual(
    chunks.flatMap((chunk) => chunk.text.split('\n')).filter((line) => line.includes('step_')),
    code,
  )
})

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean)
const word = fc.stringMatching(/^[a-zäß0-9漢字。]{1,12}[.!?,;:]?$/)
// These are words that no rule may cut.
const plainSections = fc.array(
  fc.record({
    headingPath: fc.constant<string[]>([]),
    page: fc.constant(null),
    text: fc
      .array(fc.stringMatching(/^[a-zäß]{1,9}[.!?,]?$/), { minLength: 1, maxLength: 150 })
      .map((all) => all.join(' ')),
  }),
  { maxLength: 3 },
)
const line = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '))
const paragraph = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))
const sections = fc.array(
  fc.record({
    headingPath: fc.array(word, { maxLength: 2 }),
    page: fc.option(fc.integer({ min: 1, max: 9 })),
    text: fc.array(paragraph, { minLength: 1, maxLength: 5 }).map((paragraphs) => paragraphs.join('\n\n')),
  }),
  { maxLength: 3 },
)

test('without overlap the chunks are the words of the input, in order, within the limit', () => {
  fc.assert(
    fc.property(sections, fc.integer({ min: 40, max: 400 }), (input, maxChars) => {
      const chunks = chunkSections(input, { targetChars: maxChars * 0.6, maxChars, overlapSentences: 0 })
      const expected = input.flatMap(({ text }) => wordsOf(text))
      assert.deepEqual(chunks.flatMap(({ text }) => wordsOf(text)).join(''), expected.join(''))
      for (const [at, chunk] of chunks.entries()) {
        assert.equal(chunk.ordinal, at)
        assert.ok(chunk.text.length <= maxChars && chunk.text.trim() === chunk.text && chunk.text !== '')
      }
    }),
  )
})

test('with overlap every word is still covered, the limit holds, and the result is the same each time', () => {
  fc.assert(
    fc.property(plainSections, fc.integer({ min: 0, max: 3 }), (input, overlapSentences) => {
      const options = { targetChars: 120, maxChars: 200, overlapSentences }
      const chunks = chunkSections(input, options)
      const covered = new Set(chunks.flatMap(({ text }) => wordsOf(text)))
      for (const expected of input.flatMap(({ text }) => wordsOf(text)))
        assert.ok(covered.has(expected), expected)
      for (const { text } of chunks) assert.ok(text.length <= 200)
      assert.deepEqual(chunkSections(input, options), chunks)
    }),
  )
})

test('the introduction of a list or a command, and the question of an answer, are in the same chunk', () => {
  const items = (count: number) => Array.from({ length: count }, (_, n) => `- Port ${n} for service ${n}`)
  const lead = 'Map these ports:'
  const textsOf = (text: string) => chunkSections([section(text)]).map((chunk) => chunk.text)
  const list = items(20).join('\n')
  assert.deepEqual(textsOf(`${prose(1, 10)}\n\n${lead}\n\n${list}`), [prose(1, 10), `${lead}\n\n${list}`])
  for (const text of textsOf(`${prose(1, 10)}\n\n${lead}\n\n${items(200).join('\n')}`).slice(1))
    assert.ok(text.startsWith(lead), text)

  const [question, answer] = ['May a minor stay alone?', `No. ${prose(20, 8)}`]
  assert.deepEqual(textsOf(`${prose(1, 10)}\n\n${question}\n\n${answer}`), [
    prose(1, 10),
    `${question}\n\n${answer}`,
  ])

  const command = `\`\`\`sh\n${Array.from({ length: 12 }, (_, n) => `run the step --number ${n}`).join('\n')}\n\`\`\``
  const steps = `${prose(1, 10)}\n\n4. Run the command\n\n${command}`
  assert.deepEqual(textsOf(steps), [prose(1, 10), `4. Run the command\n\n${command}`])
})
