import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { pino } from 'pino'
import { type Db, openEmbedded, openPostgres } from '../server/db/database.ts'
import { newId } from '../server/db/ids.ts'
import { json } from '../server/db/statements/json.ts'
import type { AccountId } from '../server/db/tables/columns.ts'
import { storedVector } from '../server/knowledge/index/vectors.ts'
import { createKnowledge } from '../server/knowledge/search/knowledge.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { percentiles, round } from './load.ts'
import { random, sentence, unitVector } from './random-text.ts'
import { type Prepared, prepare } from './service.ts'

type IndexResult = {
  scenario: 'index'
  database: string
  chunks: number
  /** The dimensions of a provider's vectors; 0 stands for the built-in word vectors. */
  dimensions: number
  buildMs: number
  /** The longest time for which other work had to wait while the index was built. */
  longestStallMs: number
  searchMs: ReturnType<typeof percentiles>
  bytesAChunk: { measured: number; estimated: number }
}

const SOURCES = 40
const CHUNKS_A_SOURCE = 500
const ROWS_AN_INSERT = 100
const SEARCHES = 300
const SPACE = 'bench'
const TIMER_MS = 1

/**
 * Measures the index of an agent with 20,000 chunks of 800 characters: its first search, which builds it, and later
 * ones.
 */
export async function indexScenario(server: string | null, dimensions: number): Promise<IndexResult> {
  const prepared = await prepare(server, 0, (db, { accountId, agentId }) =>
    fill(db, accountId, agentId, dimensions),
  )
  const { DATABASE_URL: url, DATA_DIR: folder = '' } = prepared.env
  const database = url ? openPostgres(url, 5) : await openEmbedded(folder)
  try {
    return {
      database: url ? 'PostgreSQL' : 'embedded',
      ...(await measure(database.db, prepared, dimensions)),
    }
  } finally {
    await database.close()
    await prepared.remove()
  }
}

async function fill(db: Db, account_id: AccountId, agent_id: string, dimensions: number): Promise<void> {
  const next = random(7)
  const owner = { account_id, agent_id }
  for (let i = 0; i < SOURCES; i++) {
    const source_id = newId()
    const source = { id: source_id, type: 'text' as const, status: 'trained' as const, name: `Source ${i}` }
    await db
      .insertInto('sources')
      .values({ ...owner, ...source, content: json({ text: '' }), live_version: 1 })
      .execute()
    for (let from = 0; from < CHUNKS_A_SOURCE; from += ROWS_AN_INSERT) {
      const chunks = Array.from({ length: ROWS_AN_INSERT }, (_, place) => ({
        ...owner,
        id: newId(),
        source_id,
        version: 1,
        ordinal: from + place,
        heading_path: json([`Source ${i}`, sentence(next, 4)]),
        text: Array.from({ length: 10 }, () => sentence(next, 12)).join(' '),
        vector_key: String(from + place),
      }))
      await db.insertInto('chunks').values(chunks).execute()
      if (dimensions === 0) continue
      const vectors = chunks.map(({ vector_key }) => {
        const vector = storedVector(unitVector(next, dimensions))
        return { ...owner, source_id, vector_key, space: SPACE, vector }
      })
      await db.insertInto('chunk_vectors').values(vectors).execute()
    }
  }
  const vector_space = dimensions > 0 ? SPACE : null
  await db
    .updateTable('agents')
    .set({ knowledge_version: 1, vector_space })
    .where('id', '=', agent_id)
    .execute()
}

async function measure(
  db: Db,
  { agentId, accountId }: Prepared,
  dimensions: number,
): Promise<Omit<IndexResult, 'database'>> {
  const next = random(99)
  const embed = async (texts: string[]) => texts.map(() => unitVector(next, dimensions))
  const knowledge = createKnowledge({
    db,
    words: loadWordVectors(),
    embedderOf: () => ({ space: SPACE, batch: 1, embed }),
    log: pino({ level: 'error' }),
  })
  const agent = { id: agentId, accountId, knowledgeVersion: 1 }
  const search = (question: string) => knowledge.search(agent, question, { limit: 6 })

  const before = memoryHeld()
  const loop = monitorEventLoopDelay({ resolution: TIMER_MS })
  loop.enable()
  const begun = performance.now()
  await search('The first search builds the index')
  const buildMs = performance.now() - begun
  loop.disable()
  const chunks = SOURCES * CHUNKS_A_SOURCE
  const bytesAChunk = {
    measured: Math.round((memoryHeld() - before) / chunks),
    estimated: Math.round(knowledge.bytes / chunks),
  }

  const questions = Array.from({ length: SEARCHES }, () => sentence(next, 9))
  for (const question of questions) await search(question)
  const times: number[] = []
  for (const question of questions) {
    const asked = performance.now()
    await search(question)
    times.push(performance.now() - asked)
  }
  return {
    scenario: 'index',
    chunks,
    dimensions,
    buildMs: round(buildMs),
    longestStallMs: round(loop.max / 1e6 - TIMER_MS),
    searchMs: percentiles(times),
    bytesAChunk,
  }
}

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function memoryHeld(): number {
  collectGarbage()
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
