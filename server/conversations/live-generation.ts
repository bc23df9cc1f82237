import type { Static } from 'typebox'
import type { GenerationsTable, MessagePart, StopReason } from '../db/tables.ts'
import type { ApiError } from '../http/errors.ts'
import { frameOf, type StreamEvent } from './events.ts'
import type { ChatAnswer } from './schema.ts'

/** What identifies a reply from its first moment on. */
export type GenerationIds = {
  id: string
  conversationId: string
  userMessageId: string
  /** Of the message it makes or, when it continues, goes on with. */
  messageId: string
  userId: string | null
  credits: number
  kind: GenerationsTable['kind']
  /** Ids of its events begin after this number, so that they grow through a whole conversation. */
  firstEvent: number
}

export type Answer = Static<typeof ChatAnswer>['data']

/** `shutdown`: this process has to end; the text so far is kept by whoever closes the generation. */
export type AbortReason = StopReason | 'shutdown'

/** Encoded events that grow until the end; what a reader follows. */
export type FrameSource = {
  readonly frames: readonly string[]
  readonly ended: boolean
  /** Ended without its last event: the reader is to come back. */
  readonly broken: boolean
  /** Calls `listener` after new frames and at the end; answers how to stop. */
  watch(listener: () => void): () => void
}

/**
 * A reply being made in this process. It belongs to the server: readers come and go, each at its own pace,
 * and read the same frames; nothing is kept for a reader but its position.
 */
export type LiveGeneration = FrameSource & {
  readonly ids: GenerationIds
  readonly signal: AbortSignal
  /** Why it was aborted, if it was. */
  readonly abortReason: AbortReason | null
  /** The parts said so far; what a checkpoint keeps. */
  readonly parts: MessagePart[]
  emit(event: StreamEvent): void
  /** Closes the stream after the last event; with an error for those who wait for the whole answer. */
  end(result: Answer | ApiError): void
  /** Ends it before any event, or without a last one: readers are to come back or are told the error. */
  fail(error: ApiError): void
  /** Resolves at the first event, rejects when the generation failed before one. */
  readonly started: Promise<void>
  /** The whole answer; rejects when there is none. */
  readonly answer: Promise<Answer>
  /** Resolves when the generation has ended and is stored. */
  readonly ending: Promise<void>
  abort(reason: AbortReason): void
}

export function createLiveGeneration(ids: GenerationIds): LiveGeneration {
  const frames: string[] = []
  const listeners = new Set<() => void>()
  const controller = new AbortController()
  const started = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Answer>()
  const ending = Promise.withResolvers<void>()
  // Whoever started it may be gone by the time it fails.
  started.promise.catch(() => {})
  answer.promise.catch(() => {})
  let ended = false
  let broken = false
  let abortReason: AbortReason | null = null
  const close = (): void => {
    ended = true
    ending.resolve()
    for (const listener of listeners) listener()
  }
  return {
    ids,
    signal: controller.signal,
    frames,
    parts: [],
    get ended() {
      return ended
    },
    get broken() {
      return broken
    },
    get abortReason() {
      return abortReason
    },
    emit(event) {
      frames.push(frameOf(ids.firstEvent + frames.length + 1, event))
      if (frames.length === 1) started.resolve()
      for (const listener of listeners) listener()
    },
    end(result) {
      if ('id' in result) answer.resolve(result)
      else answer.reject(result)
      close()
    },
    fail(error) {
      broken = true
      started.reject(error)
      answer.reject(error)
      close()
    },
    started: started.promise,
    answer: answer.promise,
    ending: ending.promise,
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    abort(reason) {
      abortReason ??= reason
      controller.abort()
    },
  }
}
