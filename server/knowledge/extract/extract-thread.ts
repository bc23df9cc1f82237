import { Worker } from 'node:worker_threads'
import type { Chunk, ChunkOptions } from '../chunk/chunk-sections.ts'
import { ExtractFailure, type ExtractFailureCode } from './extract-failure.ts'
import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'

/** With `chunking` null the answer holds the document's sections; else its chunks, and no sections. */
export type ThreadRequest = { input: DocumentInput; chunking: ChunkOptions | null }

/** With `more`, the next chunks come when asked for: many at once would be unpacked for too long here. */
export type ThreadAnswer =
  | { document: ExtractedDocument; chunks: Chunk[]; more: boolean }
  | { failure: { code: ExtractFailureCode; message: string } }

/** A thread that answers askThread; it keeps the process alive only while it works. */
export function startThread(maxHeapMb: number): Worker {
  const worker = new Worker(new URL('./extract-thread-main.ts', import.meta.url), {
    name: 'extract',
    // Nothing of the service's environment is needed to read a file.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb, stackSizeMb: 8 },
    stdout: true,
    stderr: true,
  })
  // An error between two documents must not be nobody's; the exit that follows is noticed.
  worker.on('error', () => {})
  // Parsers print what they stumble over.
  worker.stdout.resume()
  worker.stderr.resume()
  worker.unref()
  return worker
}

/** Sends one document and waits for its text. Rejects with ExtractFailure when the thread does not answer. */
export function askThread(
  worker: Worker,
  { input, chunking }: ThreadRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<ThreadAnswer> {
  return new Promise<ThreadAnswer>((resolve, reject) => {
    let whole: ThreadAnswer | null = null
    const take = (
      answer: ThreadAnswer | Pick<Extract<ThreadAnswer, { more: boolean }>, 'chunks' | 'more'>,
    ): void => {
      if (whole && 'chunks' in whole && 'chunks' in answer) {
        // Not by a spread: a call takes only so many arguments.
        for (const chunk of answer.chunks) whole.chunks.push(chunk)
      } else whole = answer as ThreadAnswer
      if ('more' in answer && answer.more) worker.postMessage('more')
      else settle(() => resolve(whole!))
    }
    const late = () =>
      new ExtractFailure(
        'timeout',
        `Reading this file took longer than ${timeoutMs / 1000} s. Split it into smaller files.`,
      )
    const listeners = {
      message: take,
      error: (error: Error) => settle(() => reject(deathOf(error))),
      exit: () => settle(() => reject(deathOf())),
    }
    const timer = setTimeout(() => settle(() => reject(late())), timeoutMs)
    const onAbort = () => settle(() => reject(aborted()))
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      for (const [name, listener] of Object.entries(listeners)) worker.off(name, listener)
      worker.unref()
      finish()
    }
    for (const [name, listener] of Object.entries(listeners)) worker.on(name, listener)
    signal.addEventListener('abort', onAbort)
    worker.ref()
    const bytes = new Uint8Array(input.bytes)
    worker.postMessage({ input: { ...input, bytes }, chunking }, [bytes.buffer])
  })
}

export function aborted(): ExtractFailure {
  return new ExtractFailure('aborted', 'Reading this file was cancelled.')
}

function deathOf(error?: Error): ExtractFailure {
  if (error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return new ExtractFailure(
      'out_of_memory',
      'This file needs too much memory to read. Split it into smaller files.',
      error,
    )
  return new ExtractFailure('crashed', 'Reading this file failed. Save it again and retry.', error)
}
