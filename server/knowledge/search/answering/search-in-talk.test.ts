import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWordVectors } from '../../../models/static/word-vectors.ts'
import { createStemmer } from '../../../text/languages/stem.ts'
import { searchTables } from '../search-tables.ts'
import { showChunks } from '../tables/drop-chunks.ts'
import { createTables } from '../tables/tables.ts'
import { writeChunk } from '../tables/write-chunks.ts'
import { searchInTalk } from './search-in-talk.ts'

const SECTIONS: [string[], string][] = [
  [['Minetest'], 'Minetest is a game in which people build worlds of blocks together.'],
  [['Minetest', 'Ports'], 'Redirect UDP port 30000 of the router to the machine on which Minetest runs.'],
  [['What is Mumble for?'], 'Mumble is for talking: people meet in rooms and hear each other.'],
  [['Accounts of the forum'], 'People join with an address.'],
  [['Mumble', 'Ports'], 'Redirect TCP and UDP port 64738 of the router to the machine on which Mumble runs.'],
]

const tables = createTables(loadWordVectors())
const stem = createStemmer()
const chunks = SECTIONS.map(([headingPath, text], i) => ({
  ...{ id: String(i), sourceId: 'manual', sourceName: 'Manual', url: null, page: null },
  ...{ headingPath, text },
}))
showChunks(
  tables,
  chunks.map((chunk) => writeChunk(tables, chunk, stem)),
)
const search = async (question: string) => searchTables(tables, question, { limit: 8 })

test('a message that begins with "and" continues the previous question, however well a passage fits it alone', async () => {
  const before = 'Which ports do I have to redirect for Minetest?'
  const question = 'And what is Mumble for?'
  assert.ok((await search(question)).confidence > 0.9)
  const { found } = await searchInTalk(search, question, before)
  assert.ok(found.confidence <= 0.5)
  const { found: ports } = await searchInTalk(search, 'And for Mumble?', before)
  assert.match(ports.passages[0]!.text, /64738/)
})

test('a complete question is answered by itself', async () => {
  const { asked } = await searchInTalk(search, 'What is Mumble for?', 'Which ports are for Minetest?')
  assert.equal(asked, 'What is Mumble for?')
})

test('a question with a single word that is not a subject refers to the previous question', async () => {
  const before = 'What is Mumble for?'
  const { confidence } = await search('Who can join?')
  assert.ok(confidence >= 0.776 && confidence < 0.9, String(confidence))
  assert.equal((await searchInTalk(search, 'Who can join?', before)).asked, `${before} Who can join?`)
})
