import { parentPort } from 'node:worker_threads'
import { chunkSections } from '../chunk/chunk-sections.ts'
import { extractDocument } from './extract-document.ts'
import { ExtractFailure } from './extract-failure.ts'
import type { ThreadAnswer, ThreadRequest } from './extract-thread.ts'

// One document at a time: the other side sends the next one after the answer.
parentPort?.on('message', async (request: ThreadRequest) => {
  parentPort?.postMessage(await answer(request))
})

async function answer({ input, chunking }: ThreadRequest): Promise<ThreadAnswer> {
  try {
    const document = await extractDocument(input)
    if (!chunking) return { document, chunks: [] }
    return { document: { ...document, sections: [] }, chunks: chunkSections(document.sections, chunking) }
  } catch (error) {
    if (error instanceof ExtractFailure) return { failure: { code: error.code, message: error.message } }
    return { failure: { code: 'broken', message: 'This file cannot be read. Save it again and retry.' } }
  }
}
