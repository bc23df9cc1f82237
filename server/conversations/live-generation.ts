import type { Static } from 'typebox'
import type { ApiError } from '../http/errors.ts'
import { frameOf, type StreamEvent } from './events.ts'
import type { ChatAnswer } from './schema.ts'

/** What identifies a reply from its first moment on. */
export type GenerationIds = {
  id: string
  conversationId: string
  userMessageId: string
  messageId: string
  userId: string | null
  credits: number
}

export type Answer = Static<typeof ChatAnswer>['data']

/**
 * A reply being made in this process. It belongs to the server: readers come and go, each at its own pace,
 * and read the same frames; nothing is kept for a reader but its position.
 */
export type LiveGeneration = {
  readonly ids: GenerationIds
  readonly signal: AbortSignal
  /** The encoded events so far. */
  readonly frames: readonly string[]
  readonly ended: boolean
  /** Everything the model has said so far; what a checkpoint keeps. */
  text: string
  emit(event: StreamEvent): void
  /** Closes the stream after the last event. */
  end(answer: Answer): void
  /** Ends it before any event: the request that started it answers with this error. */
  fail(error: ApiError): void
  /** Resolves at the first event, rejects when the generation failed before one. */
  readonly started: Promise<void>
  /** The whole answer; never resolves for a generation that failed before its first event. */
  readonly answer: Promise<Answer>
  /** Calls `listener` after new frames and at the end; answers how to stop. */
  watch(listener: () => void): () => void
  abort(): void
}

export function createLiveGeneration(ids: GenerationIds): LiveGeneration {
  const frames: string[] = []
  const listeners = new Set<() => void>()
  const controller = new AbortController()
  const started = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Answer>()
  // Whoever started it may be gone by the time it fails.
  started.promise.catch(() => {})
  let ended = false
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  return {
    ids,
    signal: controller.signal,
    frames,
    get ended() {
      return ended
    },
    text: '',
    emit(event) {
      frames.push(frameOf(frames.length + 1, event))
      if (frames.length === 1) started.resolve()
      notify()
    },
    end(whole) {
      ended = true
      answer.resolve(whole)
      notify()
    },
    fail(error) {
      ended = true
      started.reject(error)
      notify()
    },
    started: started.promise,
    answer: answer.promise,
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    abort: () => controller.abort(),
  }
}
