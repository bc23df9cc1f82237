import { availableParallelism } from 'node:os'
import {
  ChildProcessFailure,
  type ChildProcessFailureCode,
} from '../../platform/child-process/child-process-failure.ts'
import { createPool } from '../../platform/child-process/pool.ts'
import type { EmbeddingFolder } from '../catalogue/embedding-entry.ts'
import type { EmbeddingTransport } from '../embeddings/embedder.ts'
import { ModelFailure, type ModelFailureKind, toModelFailure } from '../failures/model-failure.ts'
import type { EmbedOrder, EmbedPiece } from './embed-work.ts'
import { FolderFault } from './folder-fault.ts'
import { bytesOfModel } from './folder-files.ts'
import { runtimeOf } from './runtime.ts'

export type FolderProcess = {
  /** Returns the vector of a text that already has its prefix. Throws ModelFailure. */
  embed(text: string, owner: 'questions' | 'passages', signal?: AbortSignal): Promise<Float32Array>
  /** The id of the child process, if there is one. */
  processes(): number[]
  /** Ends the process. Waiting texts fail. */
  close(): Promise<void>
}

type Pool = ReturnType<typeof createPool>

const MODULE = new URL('./embed-work.ts', import.meta.url).href
const TRIES = 3
/** The time starts when it is the text's turn. The first text also waits until the model is loaded. */
const TIMEOUT_MS = 60_000
/** The first passage also waits until the model is loaded. */
const OPENING_MS = 120_000
/** The number of texts that may wait, which can be embedded within a few seconds. */
const MAX_WAITING = 256
const ANSWER_MB = 4
/** The model stays loaded, because loading takes seconds in which questions are searched by words alone. */
const IDLE_MS = 86_400_000
/** The memory of a process without a model, and how many times the size of the model is added to it. */
const BASE_MB = 2_048
const TIMES_MODEL = 4
/** One thread leaves a machine with two cores enough capacity for answers. */
const MAX_THREADS = 2

const KINDS: Record<ChildProcessFailureCode, ModelFailureKind> = {
  timeout: 'timeout',
  out_of_memory: 'unavailable',
  too_large: 'invalid_response',
  crashed: 'unavailable',
  aborted: 'aborted',
}

/** Each text is a call of its own, so that a question waits for one passage at most. */
export const folderTransport = (process: FolderProcess): EmbeddingTransport => ({
  most: 1,
  timeoutMs: OPENING_MS,
  async send(texts, lane, signal) {
    const vectors: Float32Array[] = []
    for (const text of texts) vectors.push(await process.embed(text, lane, signal))
    return { vectors, tokens: null }
  },
})

/**
 * Runs the model of a folder in a child process, which is started with the first text and replaced when it dies. It runs
 * one text at a time, and questions and passages take turns, so that a question waits for one passage at most.
 */
export function createFolderProcess({
  folder,
  hash,
}: Pick<EmbeddingFolder, 'folder' | 'hash'>): FolderProcess {
  const threads = Math.max(1, Math.min(MAX_THREADS, Math.floor(availableParallelism() / 2)))
  const closing = new AbortController()
  let opened: { pool: Pool; order: Omit<EmbedOrder, 'text'> } | null = null
  let waiting = 0

  const open = () => {
    if (closing.signal.aborted) throw new ChildProcessFailure('aborted', 'The service is closing.')
    const { onnx, tokenizers, folders } = runtimeOf(folder)
    opened ??= {
      order: { folder, hash, threads, runtime: { onnx, tokenizers } },
      pool: createPool({
        places: 1,
        timeoutMs: TIMEOUT_MS,
        memoryMb: BASE_MB + TIMES_MODEL * Math.ceil(bytesOfModel(folder) / 1_048_576),
        answerMb: ANSWER_MB,
        idleMs: IDLE_MS,
        maxTasks: Number.POSITIVE_INFINITY,
        access: { folders: [folder, ...folders], hasAddons: true },
      }),
    }
    return opened
  }

  const embedOnce = async (
    text: string,
    owner: string,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array> => {
    const { pool, order } = opened ?? open()
    let piece: EmbedPiece | undefined
    const watcher = {
      // The pool does not get the signal, because it would then end the process together with the model.
      onBegin: async () => signal?.throwIfAborted(),
      onPiece: (made: unknown) => {
        piece = made as EmbedPiece
      },
    }
    await orAborted(pool.run(owner, { module: MODULE, input: { ...order, text } }, watcher), signal)
    if (piece && 'vector' in piece) return piece.vector
    throw new FolderFault(piece?.fault ?? 'made no vector.')
  }

  return {
    async embed(text, owner, signal) {
      if (waiting >= MAX_WAITING)
        throw new ModelFailure('rate_limited', new Error(`${waiting} texts wait already`))
      waiting += 1
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            return await embedOnce(text, owner, signal)
          } catch (error) {
            const hasCrashed = error instanceof ChildProcessFailure && error.code === 'crashed'
            if (!hasCrashed || attempt === TRIES || closing.signal.aborted) throw asModelFailure(error)
          }
        }
      } finally {
        waiting -= 1
      }
    },
    processes: () => opened?.pool.processes() ?? [],
    async close() {
      closing.abort()
      await opened?.pool.close()
    },
  }
}

function asModelFailure(error: unknown): ModelFailure {
  if (error instanceof FolderFault) return new ModelFailure('rejected', error)
  return error instanceof ChildProcessFailure
    ? new ModelFailure(KINDS[error.code], error)
    : toModelFailure(error, [])
}

/** Settles with the work, or rejects when the signal is aborted. The work continues in that case. */
function orAborted<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
