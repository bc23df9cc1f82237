import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DEMO_QUESTIONS } from './demo-agent.ts'
import { extractMarkdown } from './knowledge/extract/text/extract-markdown.ts'
import { searchTables } from './knowledge/search/search-tables.ts'
import { showChunks } from './knowledge/search/tables/drop-chunks.ts'
import { createTables, type Tables } from './knowledge/search/tables/tables.ts'
import { writeChunk } from './knowledge/search/tables/write-chunks.ts'
import { chunkSections } from './knowledge/training/chunk/chunk-sections.ts'
import { composeAnswer } from './models/builtin/compose-answer.ts'
import { loadWordVectors } from './models/static/word-vectors.ts'
import { createStemmer } from './text/languages/stem.ts'

const words = loadWordVectors()
const EXPECTED = [
  [/multipart\/form-data/, /-F file=@/],
  [/Paste this before `<\/body>`/, /<script src="https:\/\/YOUR-HOST\/widget\.js" data-agent="AGENT_ID"/],
  [/Nothing is lost/, /Last-Event-ID/],
]

function tablesOfGuides(): Tables {
  const tables = createTables(words)
  const stem = createStemmer()
  for (const folder of ['guide', 'operations']) {
    const path = new URL(`../docs/${folder}/`, import.meta.url)
    for (const name of readdirSync(path).filter((file) => file.endsWith('.md'))) {
      const { sections } = extractMarkdown(readFileSync(new URL(name, path), 'utf8'))
      const slots = chunkSections(sections).map(({ headingPath, page, text, ordinal }) => {
        const source = { sourceId: name, sourceName: name, url: null }
        return writeChunk(tables, { id: `${name}#${ordinal}`, ...source, headingPath, page, text }, stem)
      })
      showChunks(tables, slots)
    }
  }
  return tables
}

test('the suggested questions of the demo agent are answered with the steps to take', () => {
  const tables = tablesOfGuides()
  for (const [at, question] of DEMO_QUESTIONS.entries()) {
    const answer = composeAnswer({ question, ...searchTables(tables, question, { limit: 8 }) }, words)
    assert.equal(answer.band, 'answer', question)
    for (const expected of EXPECTED[at]!) assert.match(answer.text, expected)
  }
})

/** Questions of newcomers in their own words, and what the answers must contain. */
const NEWCOMERS: [string, RegExp][] = [
  ['How do I crawl a website?', /"linkType": "crawl"/],
  ['How do I create an API key?', /keys create --name/],
  ['How do I invite a colleague?', /choose Invite/],
  ['How do I revoke an API key?', /keys revoke ID/],
  ['How do I remove a team member?', /member remove ID/],
  ['How do I reset my password?', /Forgot your password/],
  ['How do I connect WhatsApp?', /access token/],
  ['How do I change the colours of the chat?', /styles/],
  ['How do I back up my data?', /parley -- backup FILE/],
  ['How do I delete the data of a user?', /POST \/users\/erase/],
  ['How do I correct a wrong answer?', /your words become a source/],
  ['How large can a file be?', /20 MB/],
  ['How do I hand over to a human?', /escalate/],
  ['Can I run it with Docker?', /compose/],
  ['How do I change the port?', /PORT=9000/],
  ['Do I need an OpenAI key?', /Without a model the built-in responder answers/],
  ['Where are uploaded files stored?', /DATA_DIR/],
  ['How do I upload a file?', /drop the file/],
  ['How do I use Claude?', /MODELS_FILE/],
  ['How do I collect email addresses of visitors?', /collect-leads/],
  ['Does it work offline?', /need no connection/],
]

test("newcomers' questions are answered with the steps to take", () => {
  const tables = tablesOfGuides()
  for (const [question, expected] of NEWCOMERS) {
    const answer = composeAnswer({ question, ...searchTables(tables, question, { limit: 8 }) }, words)
    assert.equal(answer.band, 'answer', question)
    assert.match(answer.text.split('[1]')[0]!, expected, question)
  }
})
