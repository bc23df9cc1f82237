import Type from 'typebox'
import { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { EpochSeconds, Exact, endpoint, Nullable } from '../../platform/http/contract.ts'
import { MadeOf } from '../playground/schema.ts'
import { ForbiddenTopic, HeldAnswerOutcome, Outcome, Score, UngroundedValues } from '../records/schema.ts'

export const explainAnswer = endpoint({
  method: 'GET',
  path: '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/explanation',
  name: 'explainAnswer',
  tag: 'Conversations',
  summary: 'Explain an answer',
  description:
    'Returns how an answer of the agent ended and what it was made of: the model, tokens, money, times, passages and, if the agent keeps prompts, what the model read. `madeOf` is null where nothing was recorded, as for the built-in responder.',
  scope: 'conversations:read',
  success: {
    status: 200,
    schema: Exact({
      data: Exact({
        messageId: Type.String(),
        conversationId: Type.String(),
        createdAt: EpochSeconds,
        model: Nullable(Type.String({ description: 'The model that answered' })),
        finishReason: Nullable(Type.String()),
        score: Score,
        outcome: Outcome,
        forbiddenTopic: ForbiddenTopic,
        ungrounded: UngroundedValues,
        held: Type.Optional(
          Type.Literal(true, {
            description: 'The answer was held for a person, and its values are at its note',
          }),
        ),
        heldOutcome: HeldAnswerOutcome,
        sources: Type.Array(CitedSource),
        dollars: Nullable(
          Type.Number({ description: "By the catalogue's prices; null where they are not known" }),
        ),
        madeOf: Nullable(MadeOf),
      }),
    }),
  },
  errors: ['RESOURCE_MESSAGE_NOT_FOUND', 'RESOURCE_MESSAGE_NOT_ASSISTANT'],
})
