import { sql } from 'kysely'
import { json } from '../../../db/statements/json.ts'
import { storable } from '../../../http/bodies/storable.ts'
import type { SourceRow } from '../../sources/queries.ts'
import type { Loaded } from '../load-content.ts'
import { WEEK_MS } from './eligible.ts'

/**
 * What a source keeps of the version that goes live: by what it is compared with its origin the next time, a week
 * from now if that is planned. A page with a title of its own is called by it, unless it was given another name.
 */
export function liveColumns(
  { name, content }: Pick<SourceRow, 'name' | 'content'>,
  { origin, title, url }: Loaded,
  hash: string,
) {
  const nextWeek = new Date(Date.now() + WEEK_MS)
  const ownTitle = title ? storable(title) : null
  const isNamedByTitle = name === null || name === content.title
  return {
    content_hash: hash,
    origin_etag: storableOrNull(origin?.etag),
    origin_modified: storableOrNull(origin?.modified),
    next_sync_at: sql<Date | null>`case when next_sync_at is null then null else ${nextWeek}::timestamptz end`,
    ...(ownTitle === null ? {} : { content: json({ ...content, title: ownTitle }) }),
    ...(ownTitle !== null && isNamedByTitle ? { name: ownTitle } : {}),
    ...(url ? { url } : {}),
  }
}

const storableOrNull = (text: string | null | undefined): string | null => (text ? storable(text) : null)
