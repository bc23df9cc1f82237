import Type from 'typebox'
import { EpochSeconds, Exact, Nullable, OneOf, TaggedUnion } from '../http/contract.ts'

export const conversationStatuses = ['ongoing', 'ended', 'taken_over', 'paused'] as const

/** service-api, "Conversation metadata". */
const metadataFields = {
  id: Type.String(),
  title: Nullable(Type.String()),
  createdAt: EpochSeconds,
  updatedAt: EpochSeconds,
  userId: Nullable(Type.String()),
  status: OneOf(conversationStatuses),
  parentConversationId: Nullable(Type.String()),
  parentSummary: Nullable(Type.String()),
}

export const Conversation = Exact(metadataFields)

/** service-api, "Message parts". */
export const Part = TaggedUnion('type', [
  Exact({ type: Type.Literal('text'), text: Type.String() }),
  Exact({
    type: Type.Literal('tool-call'),
    toolCallId: Type.String(),
    toolName: Type.String(),
    input: Type.Optional(Type.Unknown()),
  }),
  Exact({
    type: Type.Literal('tool-result'),
    toolCallId: Type.String(),
    toolName: Type.String(),
    output: Type.Optional(Type.Unknown()),
  }),
])

export const finishReasons = ['stop', 'error', 'tool-calls', 'length', 'content-filter', 'other'] as const

/** A source that an answer cites; `score` is 0 to 1. */
export const CitedSource = Exact({
  id: Type.String(),
  name: Nullable(Type.String()),
  url: Nullable(Type.String()),
  score: Type.Number(),
})

export const Message = Exact({
  id: Type.String(),
  role: OneOf(['user', 'assistant']),
  parts: Type.Array(Part),
  createdAt: EpochSeconds,
  feedback: Type.Optional(OneOf(['positive', 'negative'])),
  metadata: Type.Optional(
    Exact({
      score: Type.Optional(Type.Number({ description: 'Retrieval confidence of the answer, 0 to 1' })),
      sources: Type.Optional(Type.Array(CitedSource)),
      finishReason: Type.Optional(OneOf(finishReasons, { description: 'How the answer ended' })),
      author: Type.Optional(
        Exact(
          { type: Type.Literal('human_agent'), name: Type.String() },
          { description: 'The team member who wrote the message' },
        ),
      ),
    }),
  ),
})

/** service-api, "Conversation (single read)". */
export const ConversationWithMessages = Exact({ ...metadataFields, messages: Type.Array(Message) })

/** service-api, "Chat response (non-streaming)". */
export const ChatAnswer = Exact({
  data: Exact({
    id: Type.String(),
    role: Type.Literal('assistant'),
    parts: Type.Array(Part),
    metadata: Exact({
      userMessageId: Type.String(),
      conversationId: Type.String(),
      userId: Nullable(Type.String()),
      finishReason: OneOf(finishReasons),
      usage: Exact({ credits: Type.Number() }),
      score: Type.Optional(Type.Number()),
      sources: Type.Optional(Type.Array(CitedSource)),
    }),
  }),
})

export const UserId = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9._-]+$',
  refusal: 'May hold letters, digits, dots, underscores and hyphens only.',
})
