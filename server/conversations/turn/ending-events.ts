import type { Static } from 'typebox'
import type { ApiError } from '../../http/errors.ts'
import type { AnswerOutcome, CitedSource } from '../records/schema.ts'
import { notOngoing } from '../records/status.ts'
import type { FinishMetadata, FinishReason, StreamEvent } from '../stream/events.ts'
import { type Ending, errorEnding } from '../stream/generation-log.ts'
import type { AnswerMetadata, GenerationIds, LiveGeneration } from '../stream/live-generation.ts'

const ERROR_TEXT = 'The answer could not be completed. Please try again.'

/** The last events for the readers, and the result for clients that wait for the whole answer. */
export type LastWords = { events: StreamEvent[]; ending: Ending }

const finishMetadata = (ids: GenerationIds, credits: number): FinishMetadata => {
  const { messageId, userMessageId, conversationId, userId, standIn } = ids
  const model = standIn === undefined ? {} : { model: standIn }
  return { messageId, userMessageId, conversationId, userId, usage: { credits }, ...model }
}

export const firstEvents = (ids: GenerationIds): StreamEvent[] => [
  { type: 'start', messageId: ids.messageId },
  // So early that a page which is reloaded in the middle knows where to go on.
  { type: 'message-metadata', messageMetadata: finishMetadata(ids, ids.credits) },
  { type: 'start-step' },
]

/** Sends the stream's first events; a second call does nothing. */
export function sendFirstEvents(live: LiveGeneration): void {
  if (live.count === 0) for (const event of firstEvents(live.ids)) live.emit(event)
}

type Closing = {
  /** Whether its first events have been sent. */
  hasBegun: boolean
  credits: number
  finishReason: FinishReason
  failed: boolean
  score?: number
  outcome?: AnswerOutcome | null
  sources?: Static<typeof CitedSource>[]
}

/** Returns the end of an answer that is kept. */
export function lastWords(
  ids: GenerationIds,
  { hasBegun, credits, finishReason, failed, score, outcome = null, sources = [] }: Closing,
): LastWords {
  const messageMetadata = finishMetadata(ids, credits)
  const { messageId: _, ...shared } = messageMetadata
  const metadata: AnswerMetadata = {
    ...shared,
    finishReason,
    score: score ?? null,
    outcome,
    sources,
  }
  return {
    events: [
      ...(hasBegun ? [] : firstEvents(ids)),
      ...(sources.length > 0 ? [{ type: 'data-sources' as const, data: { sources } }] : []),
      ...(failed ? [{ type: 'error' as const, errorText: ERROR_TEXT }] : []),
      { type: 'finish-step' },
      { type: 'finish', finishReason, messageMetadata },
    ],
    ending: { metadata },
  }
}

/**
 * Returns the end of an answer after a person has taken over or ended the conversation: nothing of the answer is
 * kept, and no more of it is shown.
 */
export function silencedWords(
  ids: GenerationIds,
  status: 'taken_over' | 'ended',
  { hasBegun, credits }: { hasBegun: boolean; credits: number },
): LastWords {
  return {
    events: [
      ...(hasBegun ? [] : firstEvents(ids)),
      { type: 'data-handoff', data: { status } },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop', messageMetadata: finishMetadata(ids, credits) },
    ],
    ending: errorEnding(notOngoing(status)),
  }
}

/** Returns the end of a generation that failed before its first word. */
export const wordless = (error: ApiError): LastWords => ({ events: [], ending: errorEnding(error) })
