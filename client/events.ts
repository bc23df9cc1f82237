/** The metadata that every finished answer has. A stream delivers it with its second event. */
export type AnswerMetadata = {
  messageId: string
  userMessageId?: string
  conversationId: string
  userId?: string | null
  usage?: { credits: number }
  /** Whom the answer offers to the customer. */
  offer?: 'person'
}

/** An event of an answer's stream. Kinds that begin with `data-` may be added at any time. */
export type AnswerEvent =
  | { type: 'start'; messageId: string }
  | { type: 'message-metadata'; messageMetadata: AnswerMetadata }
  | { type: 'start-step' }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string }
  /** With `providerExecuted`, the service runs the action; without it, the page does. */
  | { type: 'tool-input-start'; toolCallId: string; toolName: string; providerExecuted?: boolean }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | {
      type: 'tool-input-available'
      toolCallId: string
      toolName: string
      input: unknown
      providerExecuted?: boolean
    }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; providerExecuted?: boolean }
  | { type: `data-${string}`; data: unknown }
  | { type: 'finish-step' }
  | { type: 'error'; errorText: string }
  | { type: 'finish'; finishReason: string; messageMetadata: AnswerMetadata }

/** `id` is undefined for events that are derived from the stored part of an answer. */
export type NumberedEvent = { id: number | undefined; event: AnswerEvent }

export type StoredPart =
  | { type: 'text'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown }
  | { type: 'tool-result'; toolCallId: string; toolName: string; output?: unknown }

/** A message as the service stores it. */
export type StoredMessage = {
  id: string
  role: 'user' | 'assistant'
  parts: StoredPart[]
  /** The time in Unix seconds. */
  createdAt: number
  feedback?: 'positive' | 'negative'
  metadata?: { score?: number | null; sources?: unknown[]; finishReason?: string }
}
