import { ChildProcessFailure } from '../../platform/child-process/child-process-failure.ts'
import { createPool } from '../../platform/child-process/pool.ts'
import type { Chunk, ChunkOptions } from './chunk/chunk-sections.ts'
import type { ExtractOrder, ExtractPiece } from './extract-document.ts'
import { ExtractFailure, TOO_MUCH_MEMORY } from './extract-failure.ts'
import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'

type Extraction = {
  /** The account. Accounts take turns. */
  owner: string
  signal?: AbortSignal | undefined
  /** Called when it is the document's turn. The document is read when it resolves. */
  onBegin?: (() => Promise<void>) | undefined
}

export type Extractor = {
  /** Returns the document. The caller's bytes stay usable. Throws ExtractFailure. */
  extract(input: DocumentInput, asked: Extraction): Promise<ExtractedDocument>
  /**
   * Returns the chunks of the document, which are also cut in the child process, because cutting 20 MB takes a
   * second.
   */
  extractChunks(
    input: DocumentInput,
    asked: Extraction & ChunkOptions,
  ): Promise<Pick<ExtractedDocument, 'title' | 'bytes' | 'charset' | 'gaps' | 'blocks'> & { chunks: Chunk[] }>
  /** The ids of the running processes. */
  processes(): number[]
  /** Kills the processes. Running and waiting documents fail with `aborted`. */
  close(): Promise<void>
}

type Settings = {
  /** The time limit for one document, without waiting. */
  timeoutMs?: number
  /** The memory limit of one parser process. */
  memoryMb?: number
  /** The size limit of the result for one document. */
  answerMb?: number
  idleMs?: number
}

const MODULE = new URL('./extract-document.ts', import.meta.url).href
const PLACES = 2
const PLACES_FOR_SMALL = 1

/** Documents of this size are read in a moment, and do not wait for larger ones. */
const SMALL_BYTES = 100_000
export const isSmall = (bytes: number): boolean => bytes <= SMALL_BYTES

/**
 * Extracts documents in child processes, so that no parser blocks the event loop or exceeds its limits of time and
 * memory. The processes are reused, because starting one and loading its parsers takes much longer than reading a
 * page.
 */
export function createExtractor({
  timeoutMs = 120_000,
  memoryMb = 640,
  answerMb = 128,
  idleMs = 30_000,
}: Settings = {}): Extractor {
  const pool = createPool({
    places: PLACES,
    placesForSmall: PLACES_FOR_SMALL,
    timeoutMs,
    memoryMb,
    answerMb,
    idleMs,
  })

  const run = async (order: ExtractOrder, { owner, signal, onBegin }: Extraction) => {
    const found: { document?: ExtractedDocument; chunks: Chunk[]; failure?: ExtractFailure } = { chunks: [] }
    const take = (piece: ExtractPiece): void => {
      if ('failure' in piece) found.failure = new ExtractFailure(piece.failure.code, piece.failure.message)
      else if ('document' in piece) found.document = piece.document
      // A spread would exceed the number of arguments of a call.
      else for (const chunk of piece.chunks) found.chunks.push(chunk)
    }
    const watcher = { onPiece: (piece: unknown) => take(piece as ExtractPiece), onBegin }
    const options = { signal, isSmall: isSmall(order.input.bytes.byteLength) }
    await pool.run(owner, { module: MODULE, input: order }, watcher, options).catch((error: unknown) => {
      throw error instanceof ChildProcessFailure ? asExtractFailure(error) : error
    })
    if (found.failure) throw found.failure
    if (!found.document) throw new ExtractFailure('crashed', CRASHED)
    return { document: found.document, chunks: found.chunks }
  }

  return {
    async extract(input, asked) {
      return (await run({ input, chunking: null }, asked)).document
    },
    async extractChunks(input, { owner, signal, onBegin, ...chunking }) {
      const { document, chunks } = await run({ input, chunking }, { owner, signal, onBegin })
      const { sections: _cut, ...about } = document
      return { ...about, chunks }
    },
    processes: () => pool.processes(),
    close: () => pool.close(),
  }
}

const CRASHED = 'Reading this file failed. Save it again and retry.'

function asExtractFailure(error: ChildProcessFailure): ExtractFailure {
  const sentences = {
    timeout: 'Reading this file took too long. Split it into smaller files.',
    out_of_memory: TOO_MUCH_MEMORY,
    too_large: 'This file contains more text than is accepted. Split it into smaller files.',
    crashed: CRASHED,
    aborted: 'Reading this file was cancelled.',
  }
  return new ExtractFailure(error.code, sentences[error.code], error)
}
