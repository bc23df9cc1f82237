import type { Selectable } from 'kysely'
import type { Db } from '../db/database.ts'
import type { ChunksTable, ChunkVectorsTable } from '../db/tables.ts'
import type { IndexedChunk } from './retrieval/passage.ts'
import { vectorOfBytes } from './vectors.ts'

const columns = ['id', 'heading_path', 'page', 'text', 'questions', 'url', 'title'] as const

type ChunkRow = Pick<Selectable<ChunksTable>, (typeof columns)[number]> & {
  vector: ChunkVectorsTable['vector'] | null
}
type Owner = { id: string; name: string | null; url: string | null }

/** Chunks as indexedChunk takes them, each with its vector in `space` if there is one. */
export function chunksWithVectors(db: Db, space: string | null) {
  return db
    .selectFrom('chunks')
    .leftJoin('chunk_vectors', (join) =>
      join
        .onRef('chunk_vectors.source_id', '=', 'chunks.source_id')
        .onRef('chunk_vectors.vector_key', '=', 'chunks.vector_key')
        .on('chunk_vectors.space', '=', space ?? ''),
    )
    .select(columns.map((column) => `chunks.${column}` as const))
    .select('chunk_vectors.vector')
}

/** A stored chunk as the index takes it. One of a web page carries the page's own address and title. */
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
    vector: row.vector && vectorOfBytes(row.vector),
  }
}
