import type { Db } from '../db/database.ts'
import type { AgentKnowledge, IndexState } from './knowledge.ts'
import type { IndexedChunk } from './retrieval/passage.ts'
import { vectorOfBytes } from './vectors.ts'

const PAGE = 1_000

type LiveSource = { id: string; name: string | null; url: string | null; live_version: number | null }

/**
 * Brings an index to what is live now: vanished sources go first, at once; then changed ones are read again.
 * Vectors of another embedding space than `space` are left out: they cannot be compared.
 */
export async function syncIndex(
  db: Db,
  agent: AgentKnowledge,
  state: IndexState,
  space: string | null,
): Promise<void> {
  // The version is read before the sources: what changes in between is caught by the next look.
  const current = await db
    .selectFrom('agents')
    .select('knowledge_version')
    .where('account_id', '=', agent.accountId)
    .where('id', '=', agent.id)
    .executeTakeFirst()
  const live: LiveSource[] = await db
    .selectFrom('sources')
    .select(['id', 'name', 'url', 'live_version'])
    .where('account_id', '=', agent.accountId)
    .where('agent_id', '=', agent.id)
    .where('live_version', 'is not', null)
    .execute()
  const marks = new Map(
    live.map((source) => [source.id, JSON.stringify([source.live_version, source.name, source.url])]),
  )
  for (const id of state.sources.keys()) {
    if (marks.has(id)) continue
    state.index.removeSource(id)
    state.sources.delete(id)
  }
  for (const source of live) {
    const mark = marks.get(source.id) ?? ''
    if (state.sources.get(source.id) === mark) continue
    await state.index.replaceSource(source.id, await chunksOf(db, agent, source, space))
    state.sources.set(source.id, mark)
  }
  // An agent deleted meanwhile has nothing left to be found; its version is the one asked for.
  state.version = current?.knowledge_version ?? agent.knowledgeVersion
}

async function chunksOf(
  db: Db,
  { accountId }: AgentKnowledge,
  source: LiveSource,
  space: string | null,
): Promise<IndexedChunk[]> {
  const chunks: IndexedChunk[] = []
  for (let next = 0; ; next += PAGE) {
    const rows = await db
      .selectFrom('chunks')
      .select(['id', 'heading_path', 'page', 'text', 'questions', 'vector', 'vector_space'])
      .where('account_id', '=', accountId)
      .where('source_id', '=', source.id)
      .where('version', '=', source.live_version ?? 0)
      .where('ordinal', '>=', next)
      .where('ordinal', '<', next + PAGE)
      .orderBy('ordinal')
      .execute()
    for (const row of rows) {
      chunks.push({
        id: row.id,
        sourceId: source.id,
        sourceName: source.name,
        url: source.url,
        headingPath: row.heading_path,
        page: row.page,
        text: row.text,
        ...(row.questions ? { questions: row.questions } : {}),
        vector: space !== null && row.vector && row.vector_space === space ? vectorOfBytes(row.vector) : null,
      })
    }
    if (rows.length < PAGE) return chunks
  }
}
