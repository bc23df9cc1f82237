import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Gap } from '../../platform/db/tables/knowledge.ts'
import { type Chunk, chunkSections } from '../documents/chunk/chunk-sections.ts'
import { ExtractFailure } from '../documents/extract-failure.ts'
import type { DocumentInput } from '../documents/extracted-document.ts'
import type { Extractor } from '../documents/extractor.ts'
import { gapCounter } from '../documents/gaps.ts'
import type { SourceRow } from '../sources/queries.ts'
import type { Ocr } from './ocr.ts'

type Extracted = Awaited<ReturnType<Extractor['extractChunks']>>
/** `pages` are the pictures, and `unread` those without recognised text. */
type Pictures = { chunks: Chunk[]; bytes: number; pages: number[]; unread: number[] }
type Progress = { pages: number; read: number }

/**
 * Extracts the chunks of a document, with the text of the pages that are pictures where text recognition is installed, but
 * of no more than `maxPages`. Those that are not read are among the gaps.
 * Throws ExtractFailure.
 */
export async function extractWithPictures(
  { extractor, ocr }: { extractor: Extractor; ocr: Ocr | null },
  input: DocumentInput,
  asked: Parameters<Extractor['extractChunks']>[1] & { signal: AbortSignal },
  onProgress: (progress: Progress) => Promise<void>,
  maxPages = Number.POSITIVE_INFINITY,
): Promise<Extracted> {
  if (!ocr?.isOn() || (input.type !== 'pdf' && input.type !== 'image'))
    return extractor.extractChunks(input, asked)
  const read = await extractor.extractChunks(input, asked).catch((error: unknown): Extracted => {
    if (error instanceof ExtractFailure && error.code === 'no_text')
      return { title: null, chunks: [], bytes: 0 }
    throw error
  })
  const most = Math.min(ocr.maxPages, maxPages)
  const pictures = await readPictures(ocr, input.bytes, asked, onProgress, most)
  const chunks = [...read.chunks, ...pictures.chunks].sort((a, b) => (a.page ?? 0) - (b.page ?? 0))
  if (chunks.length === 0)
    throw new ExtractFailure('no_text', 'No text was recognised in this file, whose pages are pictures.')
  return { ...read, chunks, bytes: read.bytes + pictures.bytes, gaps: withoutRead(read.gaps ?? [], pictures) }
}

async function readPictures(
  ocr: Ocr,
  bytes: Uint8Array,
  asked: { owner: string; signal: AbortSignal },
  onProgress: (progress: Progress) => Promise<void>,
  most: number,
): Promise<Pictures> {
  const pages = await ocr.picturesIn(bytes, asked)
  const wanted = pages.slice(0, most)
  const found: Pictures = { chunks: [], bytes: 0, pages, unread: pages.slice(most) }
  for (const [at, page] of wanted.entries()) {
    await onProgress({ pages: pages.length, read: at })
    const text = paragraphsOf(await ocr.read(bytes, page, asked))
    if (text === '') found.unread.push(page)
    found.bytes += Buffer.byteLength(text)
    found.chunks.push(...chunkSections([{ headingPath: [], page, text }]))
  }
  if (pages.length > 0) await onProgress({ pages: pages.length, read: wanted.length })
  return found
}

/** Returns what is missing now that the text of pictures was recognised. */
function withoutRead(gaps: readonly Gap[], { pages, unread }: Pictures): Gap[] {
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

/** Shows at a source how many pages are pictures and were read. */
export async function showProgress(
  db: Db,
  { account_id, id, content_version }: SourceRow,
  pictures: Progress,
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ metadata: sql`coalesce(metadata, '{}'::jsonb) || ${json({ pictures })}` })
    .where(ownRow(account_id, id))
    .where('content_version', '=', content_version)
    .execute()
}
