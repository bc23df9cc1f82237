import { type Selectable, sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { ChunksTable } from '../../db/tables/knowledge.ts'
import type { IndexedChunk } from '../search/passage.ts'
import { vectorOfText } from './vectors.ts'

const columns = ['id', 'heading_path', 'page', 'text', 'questions', 'url', 'title', 'anchor'] as const

type ChunkRow = Pick<Selectable<ChunksTable>, (typeof columns)[number]> & {
  vector: string | null
}
const vectorText = sql<string>`encode(chunk_vectors.vector, 'base64')`.as('text')

type Owner = { id: string; type?: string; name: string | null; url: string | null }

/**
 * Selects chunks for indexedChunk, each with its vector in `space` if there is one. It is a subquery and not a join:
 * without statistics, a planner may join by the source alone, which takes quadratic time.
 */
export function chunksWithVectors(db: Db, space: string | null) {
  return db
    .selectFrom('chunks')
    .select(columns.map((column) => `chunks.${column}` as const))
    .select((eb) =>
      eb
        .selectFrom('chunk_vectors')
        .select(vectorText)
        .whereRef('chunk_vectors.source_id', '=', 'chunks.source_id')
        .whereRef('chunk_vectors.vector_key', '=', 'chunks.vector_key')
        .where('chunk_vectors.space', '=', space ?? '')
        .as('vector'),
    )
}

/** Converts a stored chunk for the index. A chunk of a web page has the page's own URL and title. */
export function indexedChunk(row: ChunkRow, source: Owner): IndexedChunk {
  return {
    id: row.id,
    sourceId: source.id,
    sourceName: row.title ?? source.name,
    url: row.url ?? source.url,
    headingPath: row.heading_path,
    page: row.page,
    text: row.text,
    ...(row.questions ? { questions: row.questions } : {}),
    ...(row.anchor === null ? {} : { anchor: row.anchor }),
    ...(source.type === 'file' ? { isFile: true } : {}),
    vector: row.vector === null ? null : vectorOfText(row.vector),
  }
}
