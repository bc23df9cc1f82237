import { parentPort } from 'node:worker_threads'
import { type Chunk, chunkSections } from '../chunk/chunk-sections.ts'
import { extractDocument } from './extract-document.ts'
import { ExtractFailure } from './extract-failure.ts'
import type { ThreadAnswer, ThreadRequest } from './extract-thread.ts'

// Unpacked by the other side in one go, in 5 ms.
const CHUNKS_AT_ONCE = 1_000

// One document at a time: the other side sends the next one after the whole answer.
let rest: Chunk[] = []
parentPort?.on('message', async (request: ThreadRequest | 'more') => {
  parentPort?.postMessage(
    request === 'more' ? { chunks: nextChunks(), more: rest.length > 0 } : await answer(request),
  )
})

async function answer({ input, chunking }: ThreadRequest): Promise<ThreadAnswer> {
  rest = []
  try {
    const document = await extractDocument(input)
    if (!chunking) return { document, chunks: [], more: false }
    rest = chunkSections(document.sections, chunking)
    return { document: { ...document, sections: [] }, chunks: nextChunks(), more: rest.length > 0 }
  } catch (error) {
    if (error instanceof ExtractFailure) return { failure: { code: error.code, message: error.message } }
    return { failure: { code: 'broken', message: 'This file cannot be read. Save it again and retry.' } }
  }
}

function nextChunks(): Chunk[] {
  const chunks = rest.slice(0, CHUNKS_AT_ONCE)
  rest = rest.slice(CHUNKS_AT_ONCE)
  return chunks
}
