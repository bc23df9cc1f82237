import { searchTables } from '../server/knowledge/search/search-tables.ts'
import { showChunks } from '../server/knowledge/search/tables/drop-chunks.ts'
import { createTables, type Tables } from '../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../server/knowledge/search/tables/write-chunks.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createStemmer } from '../server/text/languages/stem.ts'
import { percentiles, round } from './load.ts'
import { random, sentence, unitVector } from './random-text.ts'

type SearchTime = {
  scenario: 'search-time'
  chunks: number
  /** The dimensions of a provider's vector; 0 for the built-in word vectors alone. */
  dimensions: number
  /** The average processor time of one search. */
  processorMs: number
  /** The elapsed time of each search, which other work on the machine increases. */
  clockMs: ReturnType<typeof percentiles>
}

const CHUNKS = 20_000
const WARM = 40
const SEARCHES = 300
const LIMIT = 8

/** Measures the processor time of a search among 20,000 chunks in memory, with and without a provider's vectors. */
export async function* searchTimeScenario(): AsyncIterable<SearchTime> {
  for (const dimensions of [0, 1_536]) yield measure(dimensions)
}

function tablesOf(dimensions: number): Tables {
  const next = random(7)
  const tables = createTables(loadWordVectors())
  const stem = createStemmer()
  const slots = Array.from({ length: CHUNKS }, (_, i) =>
    writeChunk(
      tables,
      {
        id: String(i),
        sourceId: `source-${i % 40}`,
        sourceName: null,
        url: null,
        headingPath: [`Source ${i % 40}`, sentence(next, 4)],
        page: null,
        text: Array.from({ length: 9 }, () => sentence(next, 14)).join(' '),
        vector: dimensions > 0 ? unitVector(next, dimensions) : null,
      },
      stem,
    ),
  )
  showChunks(tables, slots)
  return tables
}

function measure(dimensions: number): SearchTime {
  const tables = tablesOf(dimensions)
  const next = random(99)
  const asked = Array.from({ length: WARM + SEARCHES }, () => ({
    question: sentence(next, 9),
    queryVector: dimensions > 0 ? unitVector(next, dimensions) : null,
  }))
  const search = ({ question, queryVector }: (typeof asked)[number]): void => {
    searchTables(tables, question, { limit: LIMIT, queryVector })
  }
  for (const one of asked.slice(0, WARM)) search(one)
  const times: number[] = []
  const before = process.cpuUsage()
  for (const one of asked.slice(WARM)) {
    const begun = performance.now()
    search(one)
    times.push(performance.now() - begun)
  }
  const { user, system } = process.cpuUsage(before)
  return {
    scenario: 'search-time',
    chunks: CHUNKS,
    dimensions,
    processorMs: round((user + system) / 1000 / SEARCHES),
    clockMs: percentiles(times),
  }
}

if (import.meta.main) for await (const result of searchTimeScenario()) console.log(JSON.stringify(result))
