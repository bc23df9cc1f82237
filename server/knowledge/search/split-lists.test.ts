import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeDocx } from '../../../test/fixtures/make-docx.ts'
import { composeAnswer } from '../../models/builtin/compose-answer.ts'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { extractDocument } from '../extract/extract-document.ts'
import type { DocumentType } from '../extract/extracted-document.ts'
import { chunkSections } from '../training/chunk/chunk-sections.ts'
import { searchTables } from './search-tables.ts'
import { showChunks } from './tables/drop-chunks.ts'
import { createTables } from './tables/tables.ts'
import { writeChunk } from './tables/write-chunks.ts'

const words = loadWordVectors()

/** Returns the answer to a question about a document, and its chunks. */
async function askAbout(type: DocumentType, content: string | Uint8Array, question: string) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const { sections } = await extractDocument({ bytes, type })
  const tables = createTables(words)
  const stem = createStemmer()
  const chunks = chunkSections(sections)
  const slots = chunks.map(({ headingPath, page, text, ordinal }) => {
    const source = { sourceId: 'guide', sourceName: 'Guide', url: null }
    return writeChunk(tables, { id: String(ordinal), ...source, headingPath, page, text }, stem)
  })
  showChunks(tables, slots)
  const found = searchTables(tables, question, { limit: 8 })
  return { answer: composeAnswer({ question, ...found }, words), chunks }
}

const STEPS = [
  'Switch off the boiler at the main switch and wait for ten minutes until the burner has cooled down.',
  'Close the gas tap below the boiler by turning its yellow lever until it is at a right angle to the pipe.',
  'Remove the two screws at the lower edge of the front cover and lift the cover out of its upper hooks.',
  'Put a bucket of at least eight litres below the drain valve and connect the short hose to the valve.',
  'Open the drain valve slowly, let the water run into the bucket, and close the valve when it stops.',
  'Unplug the three cables of the pump in the order red, blue and green, and mark where each belongs.',
  'Loosen both union nuts of the old pump with the wide spanner while you hold the pipe with the other hand.',
  'Take out the old pump with its seals, and clean both ends of the pipe with the brush from the kit.',
  'Insert the new seals with their flat side towards the pump, and do not use any grease on them at all.',
  'Set the new pump in place so that the arrow on its housing points upwards, and tighten the nuts by hand.',
  'Tighten both union nuts with the spanner by another quarter of a turn, and never by more than that.',
  'Plug in the cables of the pump in the order green, blue and red, as you have marked them before.',
  'Fill the boiler with water until the pressure gauge shows one and a half bar, and bleed the radiators.',
  'Hang the cover back in its hooks, open the gas tap, and switch the boiler on to test the new pump.',
]
const LEAD = 'To replace the pump of the boiler, proceed as follows:'
const INTRODUCTION =
  'The pump moves the water through the radiators. It lasts for about fifteen years in most houses.'
const AFTER = 'Keep the old pump for the collection of scrap metal, and note the date in the service book.'
const numbered = STEPS.map((step, at) => `${at + 1}. ${step}`)

const DOCUMENTS: [DocumentType, string | Uint8Array][] = [
  ['md', `# Pump of the boiler\n\n${INTRODUCTION}\n\n${LEAD}\n\n${numbered.join('\n')}\n\n${AFTER}\n`],
  ['md', `# Pump of the boiler\n\n${INTRODUCTION}\n\n${LEAD}\n\n${numbered.join('\n\n')}\n\n${AFTER}\n`],
  [
    'html',
    `<html><head><title>Boiler</title></head><body><main><h1>Pump of the boiler</h1><p>${INTRODUCTION}</p><p>${LEAD}</p><ol>${STEPS.map((step) => `<li>${step}</li>`).join('')}</ol><p>${AFTER}</p></main></body></html>`,
  ],
  [
    'docx',
    makeDocx([
      { heading: 'Pump of the boiler', level: 1 },
      { paragraph: INTRODUCTION },
      { paragraph: LEAD },
      ...STEPS.map((item) => ({ item, ordered: true })),
      { paragraph: AFTER },
    ]),
  ],
]

test('a procedure that was split over chunks is quoted with its introduction and all its steps in order', async () => {
  for (const [at, [type, content]] of DOCUMENTS.entries()) {
    for (const question of [
      'How do I replace the pump of the boiler?',
      'In which order do I plug in the cables of the new pump of the boiler?',
    ]) {
      const { answer, chunks } = await askAbout(type, content, question)
      const where = `${at} ${type} ${question}\n${answer.text}`
      assert.ok(chunks.length >= 2, where)
      const from = answer.text.indexOf(LEAD)
      assert.ok(from >= 0, where)
      let last = from
      for (const step of STEPS) {
        const place = answer.text.indexOf(step)
        assert.ok(place > last, `${step}\n${where}`)
        assert.equal(answer.text.indexOf(step, place + 1), -1, where)
        last = place
      }
      assert.equal(answer.text.indexOf(LEAD, from + 1), -1, where)
    }
  }
})

test('a procedure that is too long to quote is quoted from its beginning, and the answer says that it goes on', async () => {
  const many = Array.from(
    { length: 60 },
    (_, at) => `${at + 1}. ${STEPS[at % STEPS.length]} That is step ${at + 1}.`,
  )
  const content = `# Pump of the boiler\n\n${LEAD}\n\n${many.join('\n')}\n`
  const { answer } = await askAbout('md', content, 'How do I replace the pump of the boiler?')
  const [before, after] = answer.text.split(LEAD)
  assert.doesNotMatch(before!, /\d\. /)
  const lines = after!.split('\n').filter((line) => /^\d+\. /.test(line))
  assert.deepEqual(lines, many.slice(0, lines.length))
  assert.equal(answer.text.split(LEAD).length, 2)
  assert.ok(lines.length > 10 && answer.text.length < 4_000, answer.text)
  assert.match(answer.text, /The list goes on in the source\. \[1\]/)
})

test('neighbouring lists, paragraphs and sections stay apart', async () => {
  const other = Array.from(
    { length: 6 },
    (_, at) => `${at + 1}. Oil the hinge number ${at + 1} of the garden gate with a drop of oil and wipe it.`,
  )
  const content = `# House\n\n## Pump\n\n${LEAD}\n\n${numbered.slice(0, 8).join('\n')}\n\n## Gate\n\n${other.join('\n')}\n`
  const { answer } = await askAbout('md', content, 'How do I replace the pump of the boiler?')
  assert.match(answer.text, /8\. Take out/)
  assert.doesNotMatch(answer.text, /hinge/)
})

test('a row of a table that was split over chunks is quoted with the names of its columns', async () => {
  const rows = Array.from(
    { length: 60 },
    (_, at) => `| Filter F${at + 100} | ${at + 7} EUR | ${at + 1} weeks |`,
  )
  const content = `# Filters\n\nThe prices of our filters:\n\n| Filter | Price | Delivery |\n| - | - | - |\n${rows.join('\n')}\n`
  for (const name of ['F101', 'F134', 'F159']) {
    const { answer, chunks } = await askAbout('md', content, `What is the price of filter ${name}?`)
    assert.ok(chunks.length > 2)
    const price = Number(name.slice(1)) - 93
    assert.match(answer.text, new RegExp(`${name}.*${price} EUR`, 's'), answer.text)
    assert.match(answer.text, /Price/)
  }
})
