import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { createYielder } from '../../platform/concurrency/yield-to-event-loop.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Training } from '../../platform/db/tables/knowledge.ts'
import { storable } from '../../platform/http/bodies/storable.ts'
import type { SourceRow } from '../sources/queries.ts'
import type { Loaded, LoadedChunk } from './load-content.ts'
import { WEEK_MS } from './resync/eligible.ts'

/**
 * Returns the columns of the version that goes live: what the next re-sync compares with the origin, and when that is,
 * if it is planned. A page takes the name of its title unless it was given another name.
 */
export function liveColumns(
  { name, content, type, metadata }: Pick<SourceRow, 'name' | 'content' | 'type' | 'metadata'>,
  { origin, title, url, charset, gaps = [] }: Loaded,
  hash: string,
) {
  const nextWeek = new Date(Date.now() + WEEK_MS)
  const ownTitle = title ? storable(title) : null
  const isNamedByTitle = name === null || name === content.title
  return {
    content_hash: hash,
    gaps: json(gaps),
    origin_etag: storableOrNull(origin?.etag),
    origin_modified: storableOrNull(origin?.modified),
    next_sync_at: sql<Date | null>`case when next_sync_at is null then null else ${nextWeek}::timestamptz end`,
    ...(ownTitle === null ? {} : { content: json({ ...content, title: ownTitle }) }),
    ...(ownTitle !== null && isNamedByTitle ? { name: ownTitle } : {}),
    ...(url ? { url } : {}),
    ...(type === 'file' && charset ? { metadata: json({ ...metadata, charset }) } : {}),
  }
}

const storableOrNull = (text: string | null | undefined): string | null => (text ? storable(text) : null)

/** Returns a hash of the chunks in their order. It leaves out what never reaches an answer. */
export async function contentHash(chunks: readonly LoadedChunk[]): Promise<string> {
  const breathe = createYielder()
  const hash = createHash('sha256')
  for (const { headingPath, page, text, questions, anchor } of chunks) {
    await breathe()
    hash.update(
      JSON.stringify([headingPath, page, text, questions, ...(anchor === undefined ? [] : [anchor])]),
    )
  }
  return hash.digest('base64url')
}

const KEPT = 20

/** Returns the columns that record a training, for the update of the source's row that ends it. */
export function recordedTraining(
  outcome: Training['outcome'],
  { reason = null, bytes = null }: Partial<Pick<Training, 'reason' | 'bytes'>> = {},
): { trainings: RawBuilder<string> } {
  const entry: Training = { at: new Date().toISOString(), outcome, reason, bytes }
  return {
    trainings: sql<string>`(select jsonb_agg(entry order by place) from jsonb_array_elements(
      jsonb_build_array(${JSON.stringify(entry)}::text::jsonb) || trainings) with ordinality as kept (entry, place)
      where place <= ${KEPT}::int)`,
  }
}
