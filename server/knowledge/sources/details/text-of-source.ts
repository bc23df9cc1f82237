import type { Db } from '../../../platform/db/database.ts'
import { isLiveChunk } from '../live-chunks.ts'
import type { SourceRow } from '../queries.ts'

/** The most characters of text in one response, and the most chunks that are read for them. */
const MAX_TEXT_LENGTH = 1_000_000
const MAX_CHUNKS = 4_000

type Piece = { heading_path: string[]; text: string; title: string | null; page_id: string | null }

/** Joins the live chunks of a source, page by page, and restores the headings before them. */
export async function textOfSource(
  db: Db,
  { id, account_id, live_version }: SourceRow,
  pageId: string | null,
): Promise<{ text: string; isWhole: boolean }> {
  const live = live_version ?? 0
  let query = db
    .selectFrom('chunks')
    .leftJoin('pages', 'pages.id', 'chunks.page_id')
    .where('chunks.account_id', '=', account_id)
    .where('chunks.source_id', '=', id)
    .where(isLiveChunk(live))
  if (pageId !== null) query = query.where('chunks.page_id', '=', pageId)
  const pieces: Piece[] = await query
    .select(['chunks.heading_path', 'chunks.text', 'chunks.title', 'chunks.page_id'])
    .orderBy('pages.number')
    .orderBy('chunks.ordinal')
    .orderBy('chunks.id')
    .limit(MAX_CHUNKS + 1)
    .execute()
  const text = joined(pieces.slice(0, MAX_CHUNKS))
  const isWhole = pieces.length <= MAX_CHUNKS && text.length <= MAX_TEXT_LENGTH
  // A cut must not leave half of a surrogate pair.
  return { text: isWhole ? text : text.slice(0, MAX_TEXT_LENGTH).toWellFormed(), isWhole }
}

function joined(pieces: Piece[]): string {
  const blocks: string[] = []
  let page: string | null = null
  let path: string[] = []
  for (const { heading_path, text, title, page_id } of pieces) {
    if (page_id !== page) {
      page = page_id
      path = []
      if (title && heading_path[0] !== title) blocks.push(`# ${title}`)
    }
    const shared = heading_path.findIndex((heading, depth) => heading !== path[depth])
    const from = shared < 0 ? heading_path.length : shared
    for (const [depth, heading] of heading_path.entries())
      if (depth >= from) blocks.push(`${'#'.repeat(Math.min(6, depth + 1))} ${heading}`)
    path = heading_path
    blocks.push(text)
  }
  return blocks.join('\n\n')
}
