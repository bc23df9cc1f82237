import type { Static } from 'typebox'
import type { CitedSource } from '../../knowledge/search/answering/schema.ts'
import type { finishReasons } from '../records/schema.ts'

export type FinishReason = (typeof finishReasons)[number]

/** service-api, "Stream finish metadata". */
export type FinishMetadata = {
  messageId: string
  userMessageId: string
  conversationId: string
  userId: string | null
  usage: { credits: number }
  /** The model that answered in place of the agent's own, whose provider failed. */
  model?: string
  /** Whom the answer offers; known at its end. */
  offer?: 'person'
}

/** `providerExecuted`: the call runs here; an application runs only the calls without it. */
type ToolInput = { toolCallId: string; toolName: string; providerExecuted?: true }

/** The events of an answer's stream (service-api, "Events"); our own kinds begin with `data-`. */
export type StreamEvent =
  | { type: 'start'; messageId: string }
  | { type: 'message-metadata'; messageMetadata: FinishMetadata }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | ({ type: 'tool-input-start' } & ToolInput)
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | ({ type: 'tool-input-available'; input: unknown } & ToolInput)
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted?: true }
  | { type: 'data-sources'; data: { sources: Static<typeof CitedSource>[] } }
  /** A person has taken the conversation over or ended it; the text of this answer so far is discarded. */
  | { type: 'data-handoff'; data: { status: 'taken_over' | 'ended' } }
  /** The process is shutting down; after that time, the stream continues or the stored answer is available. */
  | { type: 'data-reattach'; data: { afterMs: number }; transient: true }
  | { type: 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: FinishReason; messageMetadata: FinishMetadata }

/** An upper bound on the events of an answer. */
export const EVENTS_PER_GENERATION = 100_000

export const DONE_FRAME = 'data: [DONE]\n\n'

/** Encodes one event for the wire. Joined like this, it is one string in memory and no chain of its pieces. */
export const frameOf = (id: number, event: StreamEvent): string =>
  ['id: ', id, '\nevent: ', event.type, '\ndata: ', JSON.stringify(event), '\n\n'].join('')
