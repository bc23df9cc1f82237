import type { Db } from '../../platform/db/database.ts'
import type { Gap } from '../../platform/db/tables/knowledge.ts'
import type { ServiceProcess } from '../../platform/db/upkeep/processes.ts'
import { FetchFailure } from '../../platform/fetch/failures/fetch-failure.ts'
import { statusName } from '../../platform/fetch/failures/status-name.ts'
import type { GuardedFetcher } from '../../platform/fetch/guard/guarded-fetcher.ts'
import type { Renderer } from '../../platform/fetch/render/renderer.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import { chunkSections } from '../documents/chunk/chunk-sections.ts'
import { ExtractFailure } from '../documents/extract-failure.ts'
import type { DocumentType } from '../documents/extracted-document.ts'
import type { Extractor } from '../documents/extractor.ts'
import { linkedInput } from '../documents/html/rendered-page.ts'
import { NotionFailure } from '../notion/client/notion-failure.ts'
import { readConnectedPage } from '../notion/pages/read-connected-page.ts'
import type { Ocr } from '../ocr/ocr.ts'
import { extractWithPictures, showProgress } from '../ocr/read-pictures.ts'
import { readKept } from '../sources/files.ts'
import type { SourceRow } from '../sources/queries.ts'
import { settleUrl } from '../sources/settle-url.ts'
import { createParseAttempt, PARSER_CRASHED } from './parser-crashes.ts'

export type LoadedChunk = {
  headingPath: string[]
  page: number | null
  text: string
  questions: string[] | null
  /** The id of the chunk's heading on a web page. */
  anchor?: string
}
/** The validators of an origin's content, for the next conditional request. */
type Origin = { etag: string | null; modified: string | null }
/** `bytes` is the size of the training text; `title` and `url` belong to a page that has its own. */
export type Loaded = {
  chunks: LoadedChunk[]
  bytes: number
  origin?: Origin
  title?: string | null
  url?: string | null
  /** The charset in which a text file was read. */
  charset?: string
  /** What is not in the text. */
  gaps?: Gap[]
}

/** The reason why a source cannot be trained; `message` is for the customer. A transient failure may be retried. */
export class TrainingFailure extends Error {
  override name = 'TrainingFailure'
  readonly transient: boolean
  constructor(message: string, transient: boolean, cause?: unknown) {
    super(message, { cause })
    this.transient = transient
  }
}

/** The origin responds and says that there is nothing at this URL any more. */
export class OriginGone extends TrainingFailure {
  constructor(message: string, cause?: unknown) {
    super(message, false, cause)
  }
}

type Deps = {
  db: Db
  process: ServiceProcess
  fetcher: GuardedFetcher
  renderer: Renderer | null
  extractor: Extractor
  ocr: Ocr
  filesDir: string
  secrets: Secrets
}

const PAGE_BYTES = 20 * 1_048_576
const MAX_TITLE_LENGTH = 200
const PAGE_TIMEOUT_MS = 30_000

/** The media types of pictures, of which a link is read, but none that a crawl finds. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/tiff']

/** The media types of pages that can be read, and the document type of each. */
export const PAGE_TYPES: Record<string, DocumentType> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
}

/** Loads a source's content and splits it into chunks. Throws TrainingFailure. */
export async function loadContent(ctx: Deps, source: SourceRow, signal: AbortSignal): Promise<Loaded> {
  const loaded = await tryLoad(ctx, source, null, signal)
  if (loaded === null)
    throw new TrainingFailure('The origin sent nothing, although it was not asked for changes.', true)
  return loaded
}

/** Loads the content like `loadContent`, but returns null when the origin says that the live version is current. */
export async function loadIfChanged(
  ctx: Deps,
  source: SourceRow,
  signal: AbortSignal,
): Promise<Loaded | null> {
  const { live_version, origin_etag: etag, origin_modified: modified } = source
  return tryLoad(ctx, source, live_version === null ? null : { etag, modified }, signal)
}

async function tryLoad(
  ctx: Deps,
  source: SourceRow,
  since: Origin | null,
  signal: AbortSignal,
): Promise<Loaded | null> {
  try {
    const loaded = await load(ctx, source, since, signal)
    if (loaded?.chunks.length === 0) throw new TrainingFailure('The page contains no text.', false)
    return loaded
  } catch (error) {
    throw toTrainingFailure(error)
  }
}

function load(
  ctx: Deps,
  source: SourceRow,
  since: Origin | null,
  signal: AbortSignal,
): Promise<Loaded | null> {
  const { text, answer, questions, subject, filename, mediaType, charset } = source.content
  switch (source.type) {
    case 'text':
      return extract(ctx, source, { bytes: new TextEncoder().encode(text ?? ''), type: 'md' }, signal)
    case 'qna':
      return Promise.resolve(questionsAndAnswer(questions ?? [], answer ?? ''))
    case 'file':
      return readKept(ctx.filesDir, source).then((bytes) =>
        extract(ctx, source, { bytes, type: mediaType as DocumentType, filename, charset }, signal),
      )
    case 'link':
      return loadPage(ctx, source, since, signal)
    case 'notionPage':
      return loadConnected(ctx, source, since, signal)
    case 'ticket':
      return Promise.resolve(solvedTicket(subject ?? null, questions ?? [], answer ?? ''))
  }
}

type Input = Parameters<Extractor['extractChunks']>[0]

async function extract(
  { db, process, extractor, ocr }: Deps,
  source: SourceRow,
  input: Input,
  signal: AbortSignal,
): Promise<Loaded> {
  const reading = createParseAttempt(db, process, source)
  const onBegin = async (): Promise<void> => {
    if (!(await reading.begin())) throw new TrainingFailure(PARSER_CRASHED, false)
  }
  try {
    const {
      title,
      chunks,
      bytes,
      charset,
      gaps = [],
    } = await extractWithPictures(
      { extractor, ocr },
      { ...input, wholePage: source.content.wholePage },
      { owner: source.account_id, signal, onBegin },
      (pictures) => showProgress(db, source, pictures),
    )
    const root = titleAbove(title, source, chunks)
    return {
      chunks: chunks.map((chunk) => ({
        ...chunk,
        headingPath: chunk.isContact ? chunk.headingPath : [...root, ...chunk.headingPath],
        questions: null,
      })),
      bytes,
      gaps,
      ...(charset === undefined ? {} : { charset }),
    }
  } catch (error) {
    if (!(error instanceof ExtractFailure) || error.code !== 'crashed') throw error
    if (await reading.recordCrash()) throw new TrainingFailure(error.message, true, error)
    throw new TrainingFailure(PARSER_CRASHED, false, error)
  } finally {
    await reading.end()
  }
}

/**
 * A title that is neither a heading of the document nor the name of its source says what the whole document is about.
 */
function titleAbove(
  title: string | null,
  { name }: SourceRow,
  chunks: readonly { headingPath: string[] }[],
): string[] {
  if (title === null || title === name || title.length > MAX_TITLE_LENGTH) return []
  return chunks.some(({ headingPath }) => headingPath.includes(title)) ? [] : [title]
}

/** Splits the answer into pieces, each with all questions. */
function questionsAndAnswer(questions: string[], answer: string): Loaded {
  const pieces = chunkSections([{ headingPath: [], page: null, text: answer }])
  const chunks = pieces.map(({ text }) => ({ headingPath: [], page: null, text, questions }))
  return { chunks, bytes: Buffer.byteLength(answer + questions.join('')) }
}

/** The same under the ticket's subject, which alone is too short to stand for the question. */
function solvedTicket(subject: string | null, questions: string[], answer: string): Loaded {
  const { chunks, bytes } = questionsAndAnswer(questions, answer)
  return { chunks: chunks.map((chunk) => ({ ...chunk, headingPath: subject ? [subject] : [] })), bytes }
}

async function loadConnected(
  ctx: Deps,
  { account_id, agent_id, content }: SourceRow,
  since: Origin | null,
  signal: AbortSignal,
): Promise<Loaded | null> {
  const place = { accountId: account_id, agentId: agent_id, pageId: content.pageId ?? '' }
  const page = await readConnectedPage(ctx, place, since?.modified ?? null, signal)
  if (page === null) return null
  const chunks: LoadedChunk[] = []
  for (const section of page.sections) {
    for (const { headingPath, text } of chunkSections([section]))
      chunks.push({ headingPath, page: null, text, questions: null })
  }
  const { bytes, title, url, modified } = page
  return { chunks, bytes, title, url, origin: { etag: null, modified } }
}

async function loadPage(
  ctx: Deps,
  source: SourceRow,
  since: Origin | null,
  signal: AbortSignal,
): Promise<Loaded | null> {
  const page = await ctx.fetcher.fetch(await settleUrl(ctx, source, signal), {
    maxBytes: PAGE_BYTES,
    timeoutMs: PAGE_TIMEOUT_MS,
    accept: [...Object.keys(PAGE_TYPES), ...IMAGE_TYPES],
    headers: {
      ...(since?.etag ? { 'if-none-match': since.etag } : {}),
      ...(since?.modified ? { 'if-modified-since': since.modified } : {}),
    },
    signal,
  })
  if (page.status === 304 && since) return null
  if (page.status === 404 || page.status === 410)
    throw new OriginGone(`The page does not exist (HTTP ${page.status}).`)
  if (page.status >= 300) {
    const transient = page.status >= 500 || page.status === 429 || page.status === 408
    throw new TrainingFailure(`The page answered with ${statusName(page.status)}.`, transient)
  }
  const mediaType = page.contentType ?? 'text/html'
  const type = IMAGE_TYPES.includes(mediaType) ? 'image' : (PAGE_TYPES[mediaType] ?? 'html')
  const { input, isRendered } = await linkedInput(ctx.renderer, page, type, {
    owner: source.account_id,
    signal,
  })
  // Content produced by scripts may change while the page itself stays the same, so its validators are not kept.
  const { etag = null, 'last-modified': modified = null } = isRendered ? {} : page.headers
  return { ...(await extract(ctx, source, input, signal)), origin: { etag, modified } }
}

function toTrainingFailure(error: unknown): TrainingFailure {
  if (error instanceof TrainingFailure) return error
  if (error instanceof NotionFailure) {
    return error.code === 'gone'
      ? new OriginGone(error.message, error)
      : new TrainingFailure(error.message, error.isTransient, error)
  }
  if (error instanceof FetchFailure) return new TrainingFailure(error.message, error.isPassing, error)
  if (error instanceof ExtractFailure)
    return new TrainingFailure(error.message, error.code === 'aborted', error)
  return new TrainingFailure(
    'This source could not be processed. Try again; if it keeps failing, check the server log.',
    true,
    error,
  )
}
