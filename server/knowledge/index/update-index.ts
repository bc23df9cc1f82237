import type { Db } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { sourceOfKey, syncPages } from '../crawl/pages/resync-pages.ts'
import type { AgentIndex } from '../search/agent-index.ts'
import type { IndexedChunk } from '../search/passage.ts'
import { chunksWithVectors, indexedChunk } from './indexed-chunk.ts'
import { vectorOfText } from './vectors.ts'

// The embedded database and the driver process the rows of one query without a break: for 5 ms, even with vectors of
// 1,536 numbers.
const ROWS = 100

/**
 * An agent's index in this process and the version it holds. `sources` has a mark for each source, which changes with
 * its content. `space` is the embedding space of the vectors, and `liveSpace` the one that they are to be moved to.
 */
export type IndexState = {
  index: AgentIndex
  version: number
  sources: Map<string, string>
  space: string | null
  liveSpace: string | null
}

/** An agent to search; `knowledgeVersion` is read in the transaction that the answer belongs to. */
export type AgentKnowledge = { id: string; accountId: AccountId; knowledgeVersion: number }

type LiveSource = {
  id: string
  type: string
  name: string | null
  url: string | null
  link_type: string | null
  live_version: number | null
  pages_version: number
}

/**
 * Updates an index to the live version. Deleted sources are removed first, all at once; then changed ones are read
 * again. Returns the embedding space that the agent's vectors are in now; an index that already has chunks keeps its
 * own until syncVectors.
 */
export async function syncIndex(db: Db, agent: AgentKnowledge, state: IndexState): Promise<string | null> {
  // Read the version before the sources, so that the next synchronisation catches what changes in between.
  const current = await db
    .selectFrom('agents')
    .select(['knowledge_version', 'vector_space'])
    .where('account_id', '=', agent.accountId)
    .where('id', '=', agent.id)
    .executeTakeFirst()
  const live: LiveSource[] = await db
    .selectFrom('sources')
    .select(['id', 'type', 'name', 'url', 'link_type', 'live_version', 'pages_version'])
    .where('account_id', '=', agent.accountId)
    .where('agent_id', '=', agent.id)
    .where('live_version', 'is not', null)
    .execute()
  const marks = new Map(
    live.map((source) => [
      source.id,
      JSON.stringify([source.live_version, source.name, source.url, source.pages_version]),
    ]),
  )
  for (const key of state.sources.keys()) {
    if (marks.has(sourceOfKey(key))) continue
    state.index.removeSource(key)
    state.sources.delete(key)
  }
  if (state.sources.size === 0) state.space = current?.vector_space ?? null
  for (const source of live) {
    const mark = marks.get(source.id) ?? ''
    if (state.sources.get(source.id) === mark) continue
    if (source.link_type === 'crawl' || source.link_type === 'sitemap')
      await syncPages(db, agent.accountId, source, state, state.space)
    else await state.index.replaceSource(source.id, chunksOf(db, agent, source, state.space))
    state.sources.set(source.id, mark)
  }
  // If the agent has been deleted meanwhile, nothing is left to find, and the requested version counts as reached.
  state.version = current?.knowledge_version ?? agent.knowledgeVersion
  return current?.vector_space ?? null
}

/**
 * Moves an index to the vectors of another embedding space. It keeps answering with its present vectors meanwhile.
 */
export async function syncVectors(
  db: Db,
  { accountId }: AgentKnowledge,
  state: IndexState,
  space: string | null,
): Promise<void> {
  await state.index.replaceVectors(async (ids) => {
    const rows = await chunksWithVectors(db, space)
      .where('chunks.account_id', '=', accountId)
      .where('chunks.id', 'in', ids)
      .execute()
    return new Map(rows.flatMap(({ id, vector }) => (vector === null ? [] : [[id, vectorOfText(vector)]])))
  })
  state.space = space
}

async function* chunksOf(
  db: Db,
  { accountId }: AgentKnowledge,
  source: LiveSource,
  space: string | null,
): AsyncGenerator<IndexedChunk> {
  for (let next = 0; ; next += ROWS) {
    const rows = await chunksWithVectors(db, space)
      .where('chunks.account_id', '=', accountId)
      .where('chunks.source_id', '=', source.id)
      .where('chunks.version', '=', source.live_version ?? 0)
      .where('chunks.ordinal', '>=', next)
      .where('chunks.ordinal', '<', next + ROWS)
      .orderBy('chunks.ordinal')
      .execute()
    for (const row of rows) yield indexedChunk(row, source)
    if (rows.length < ROWS) return
  }
}
