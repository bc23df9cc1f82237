import type { Context } from '../context.ts'
import { FetchFailure } from '../fetch/fetch-failure.ts'
import { chunkSections } from './chunk/chunk-sections.ts'
import { ExtractFailure } from './extract/extract-failure.ts'
import type { DocumentType } from './extract/extracted-document.ts'
import { readKept } from './files.ts'
import type { SourceRow } from './queries.ts'

export type LoadedChunk = {
  headingPath: string[]
  page: number | null
  text: string
  questions: string[] | null
}
/** `bytes` of training text. */
export type Loaded = { chunks: LoadedChunk[]; bytes: number }

/** Why a source cannot be trained; `message` is for the customer. A transient failure is worth another try. */
export class TrainingFailure extends Error {
  override name = 'TrainingFailure'
  readonly transient: boolean
  constructor(message: string, transient: boolean, cause?: unknown) {
    super(message, { cause })
    this.transient = transient
  }
}

type Needs = Pick<Context, 'fetcher' | 'extractor' | 'filesDir'>

const PAGE_BYTES = 20 * 1_048_576
const PAGE_TIMEOUT_MS = 30_000

/** Media types of pages that can be read, and what they are read as. */
const PAGE_TYPES: Record<string, DocumentType> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/msword': 'doc',
}

const TRANSIENT_FETCH = new Set(['timeout', 'dns_failed', 'connect_failed', 'bad_response', 'aborted'])

/** Brings a source's content and cuts it into chunks. Throws TrainingFailure. */
export async function loadContent(ctx: Needs, source: SourceRow, signal: AbortSignal): Promise<Loaded> {
  try {
    const loaded = await load(ctx, source, signal)
    if (loaded.chunks.length === 0) throw new TrainingFailure('There is no text in it.', false)
    return loaded
  } catch (error) {
    throw toTrainingFailure(error)
  }
}

function load(ctx: Needs, source: SourceRow, signal: AbortSignal): Promise<Loaded> {
  const { text, answer, questions, file, filename, mediaType } = source.content
  switch (source.type) {
    case 'text':
      return extract(ctx, { bytes: new TextEncoder().encode(text ?? ''), type: 'md' }, signal)
    case 'qna':
      return Promise.resolve(questionsAndAnswer(questions ?? [], answer ?? ''))
    case 'file':
      return readKept(ctx.filesDir, file ?? '').then((bytes) =>
        extract(ctx, { bytes, type: mediaType as DocumentType, filename }, signal),
      )
    case 'link':
      return loadPage(ctx, source.url ?? '', signal)
    default:
      throw new TrainingFailure(
        `Sources of the type ${source.type} are not available in this version.`,
        false,
      )
  }
}

type Input = Parameters<Context['extractor']['extractChunks']>[0]

async function extract({ extractor }: Needs, input: Input, signal: AbortSignal): Promise<Loaded> {
  const { chunks, bytes } = await extractor.extractChunks(input, { signal })
  return { chunks: chunks.map((chunk) => ({ ...chunk, questions: null })), bytes }
}

/** The answer in pieces, each with all questions. */
function questionsAndAnswer(questions: string[], answer: string): Loaded {
  const pieces = chunkSections([{ headingPath: [], page: null, text: answer }])
  const chunks = pieces.map(({ text }) => ({ headingPath: [], page: null, text, questions }))
  return { chunks, bytes: Buffer.byteLength(answer + questions.join('')) }
}

async function loadPage(ctx: Needs, url: string, signal: AbortSignal): Promise<Loaded> {
  const page = await ctx.fetcher.fetch(url, {
    maxBytes: PAGE_BYTES,
    timeoutMs: PAGE_TIMEOUT_MS,
    accept: Object.keys(PAGE_TYPES),
    signal,
  })
  if (page.status >= 400) {
    const transient = page.status >= 500 || page.status === 429 || page.status === 408
    throw new TrainingFailure(`The page answered with HTTP ${page.status}.`, transient)
  }
  const type = PAGE_TYPES[page.contentType ?? 'text/html'] ?? 'html'
  return extract(
    ctx,
    { bytes: page.body, type, url: page.url, contentType: page.headers['content-type'] },
    signal,
  )
}

function toTrainingFailure(error: unknown): TrainingFailure {
  if (error instanceof TrainingFailure) return error
  if (error instanceof FetchFailure)
    return new TrainingFailure(error.message, TRANSIENT_FETCH.has(error.code), error)
  if (error instanceof ExtractFailure)
    return new TrainingFailure(error.message, error.code === 'aborted', error)
  return new TrainingFailure(
    'It could not be processed. Try again, or ask your operator to look at the log.',
    true,
    error,
  )
}
