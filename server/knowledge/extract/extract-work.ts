import { type Chunk, type ChunkOptions, chunkSections } from '../training/chunk/chunk-sections.ts'
import { extractDocument } from './extract-document.ts'
import { ExtractFailure, type ExtractFailureCode, TOO_MUCH_MEMORY } from './extract-failure.ts'
import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'

/** With `chunking` null the answer holds the document's sections; else its chunks follow, and there are no sections. */
export type ExtractOrder = { input: DocumentInput; chunking: ChunkOptions | null }

export type ExtractPiece =
  | { document: ExtractedDocument }
  | { chunks: Chunk[] }
  | { failure: { code: ExtractFailureCode; message: string } }

// The other side unpacks each piece in one go.
const CHUNKS_AT_ONCE = 1_000

/** What a child process does with a document. */
export async function* work({ input, chunking }: ExtractOrder): AsyncGenerator<ExtractPiece> {
  try {
    const document = await extractDocument(input)
    if (!chunking) return yield { document }
    const chunks = chunkSections(document.sections, chunking)
    yield { document: { ...document, sections: [] } }
    for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE)
      yield { chunks: chunks.slice(at, at + CHUNKS_AT_ONCE) }
  } catch (error) {
    yield { failure: failureOf(error) }
  }
}

function failureOf(error: unknown): { code: ExtractFailureCode; message: string } {
  if (lacksMemory(error)) return { code: 'out_of_memory', message: TOO_MUCH_MEMORY }
  if (error instanceof ExtractFailure) return { code: error.code, message: error.message }
  return { code: 'broken', message: 'This file cannot be read. Save it again and retry.' }
}

/** A parser that is refused memory says so in its own error, or in the cause of one. */
function lacksMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /allocation failed|failed to allocate|out of memory/i.test(error.message) || lacksMemory(error.cause)
}
