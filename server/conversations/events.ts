import type { Static } from 'typebox'
import type { CitedSource, finishReasons } from './schema.ts'

export type FinishReason = (typeof finishReasons)[number]

/** service-api, "Stream finish metadata". */
export type FinishMetadata = {
  messageId: string
  userMessageId: string
  conversationId: string
  userId: string | null
  usage: { credits: number }
}

/** The events of an answer's stream (service-api, "Events"); our own kinds begin with `data-`. */
export type StreamEvent =
  | { type: 'start'; messageId: string }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  | { type: 'data-sources'; data: { sources: Static<typeof CitedSource>[] } }
  | { type: 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: FinishReason; messageMetadata: FinishMetadata }

export const DONE_FRAME = 'data: [DONE]\n\n'
export const PING_FRAME = ': ping\n\n'

/** One event as it goes over the wire; `id` counts from 1 within its generation. */
export function frameOf(id: number, event: StreamEvent): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
