import type { Worker } from 'node:worker_threads'
import type { Chunk, ChunkOptions } from '../chunk/chunk-sections.ts'
import { ExtractFailure } from './extract-failure.ts'
import { aborted, askThread, startThread, type ThreadRequest } from './extract-thread.ts'
import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'

export type Extractor = {
  /** Throws ExtractFailure. The caller's bytes stay usable. */
  extract(input: DocumentInput, options?: { signal?: AbortSignal }): Promise<ExtractedDocument>
  /** The same, cut into chunks in the same thread: cutting 20 MB takes a second. */
  extractChunks(
    input: DocumentInput,
    options?: ChunkOptions & { signal?: AbortSignal },
  ): Promise<{ title: string | null; bytes: number; chunks: Chunk[] }>
  /** Ends the thread; what is running or waiting fails with `aborted`. */
  close(): Promise<void>
}

type Settings = {
  /** For one document, waiting not counted. */
  timeoutMs?: number
  maxHeapMb?: number
  /** A thread with nothing to do for this long is ended, which gives its memory back. */
  idleMs?: number
}

/**
 * Extracts documents in one worker thread, one at a time, so that no parser holds up the event loop and none
 * outlives its time or memory. The thread is kept between documents: starting one and loading its parsers takes
 * 50 to 230 ms, a small page 20.
 */
export function createExtractor(settings: Settings = {}): Extractor {
  const { timeoutMs = 120_000, maxHeapMb = 768, idleMs = 30_000 } = settings
  const closing = new AbortController()
  let thread: Worker | null = null
  let idleTimer: NodeJS.Timeout | undefined
  let lastInLine: Promise<unknown> = Promise.resolve()

  const endThread = async () => {
    clearTimeout(idleTimer)
    const ending = thread
    thread = null
    await ending?.terminate()
  }

  const currentThread = (): Worker => {
    if (thread) return thread
    const started = startThread(maxHeapMb)
    started.on('exit', () => {
      if (thread === started) thread = null
    })
    thread = started
    return started
  }

  const run = async (request: ThreadRequest, signal: AbortSignal) => {
    if (signal.aborted) throw aborted()
    clearTimeout(idleTimer)
    const answer = await askThread(currentThread(), request, timeoutMs, signal).catch(
      async (error: unknown) => {
        await endThread()
        throw error
      },
    )
    idleTimer = setTimeout(endThread, idleMs).unref()
    if ('failure' in answer) throw new ExtractFailure(answer.failure.code, answer.failure.message)
    return answer
  }

  const enqueue = (request: ThreadRequest, signal: AbortSignal | undefined) => {
    const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
    const result = lastInLine.then(() => run(request, either))
    lastInLine = result.catch(() => {})
    return result
  }

  return {
    async extract(input, { signal } = {}) {
      return (await enqueue({ input, chunking: null }, signal)).document
    },
    async extractChunks(input, { signal, ...chunking } = {}) {
      const { document, chunks } = await enqueue({ input, chunking }, signal)
      return { title: document.title, bytes: document.bytes, chunks }
    },
    async close() {
      closing.abort()
      await endThread()
    },
  }
}
