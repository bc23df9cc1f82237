import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Gap } from '../../platform/db/tables/knowledge.ts'
import { chunkSections } from '../documents/chunk/chunk-sections.ts'
import { gapCounter } from '../documents/gaps.ts'
import type { SourceRow } from '../sources/queries.ts'
import type { Ocr } from './ocr.ts'

type PictureChunk = { headingPath: string[]; page: number; text: string; questions: null }
/** `pages` are the pictures, and `unread` those without recognised text. */
type Pictures = { chunks: PictureChunk[]; bytes: number; pages: number[]; unread: number[] }

/** Reads the pages of a PDF that are pictures, and shows at the source how many there are and were read. */
export async function readPictures(
  { db, ocr }: { db: Db; ocr: Ocr },
  source: SourceRow,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<Pictures> {
  const asked = { owner: source.account_id, signal }
  const found: Pictures = { chunks: [], bytes: 0, pages: [], unread: [] }
  if (!ocr.isOn()) return found
  const pages = await ocr.picturesIn(bytes, asked)
  const wanted = pages.slice(0, ocr.maxPages)
  found.pages = pages
  found.unread = pages.slice(ocr.maxPages)
  for (const [at, page] of wanted.entries()) {
    await showProgress(db, source, { pages: pages.length, read: at })
    const text = paragraphsOf(await ocr.read(bytes, page, asked))
    if (text === '') found.unread.push(page)
    found.bytes += Buffer.byteLength(text)
    for (const chunk of chunkSections([{ headingPath: [], page, text }]))
      found.chunks.push({ headingPath: [], page, text: chunk.text, questions: null })
  }
  if (pages.length > 0) await showProgress(db, source, { pages: pages.length, read: wanted.length })
  return found
}

/** Returns what is missing now that the text of pictures was recognised. */
export function withoutRead(gaps: readonly Gap[], { pages, unread }: Pictures): Gap[] {
  const counter = gapCounter()
  for (const page of unread.toSorted((a, b) => a - b)) counter.add('pages', String(page))
  // Pages that are drawn without being pictures are still missing.
  const others = gaps.filter(({ kind, count }) => kind !== 'pages' || count > pages.length)
  return [...others, ...counter.gaps('page')]
}

/** The lines of a picture are no lines of its text. */
const paragraphsOf = (text: string): string =>
  text
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .trim()
        .replace(/(\p{Ll})-\n(?=\p{Ll})/gu, '$1')
        .replace(/\s*\n\s*/g, ' '),
    )
    .filter((paragraph) => paragraph !== '')
    .join('\n\n')

async function showProgress(
  db: Db,
  { account_id, id, content_version }: SourceRow,
  pictures: { pages: number; read: number },
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ metadata: sql`coalesce(metadata, '{}'::jsonb) || ${json({ pictures })}` })
    .where(ownRow(account_id, id))
    .where('content_version', '=', content_version)
    .execute()
}
