import Type from 'typebox'
import { Exact, IsoTime, Nullable, OneOf } from '../../../platform/http/contract.ts'

export const groupStatuses = ['open', 'answered', 'dismissed'] as const

export const UnansweredGroup = Exact({
  id: Type.String(),
  question: Type.String(),
  status: OneOf(groupStatuses),
  count: Type.Integer({ minimum: 1, description: 'How often it was asked' }),
  lastAskedAt: IsoTime,
  examples: Type.Array(
    Exact({
      question: Type.String(),
      conversationId: Type.String(),
      messageId: Type.String(),
      askedAt: IsoTime,
    }),
    { maxItems: 3, description: 'The newest examples; messageId refers to the answer' },
  ),
  suggestedAnswer: Nullable(
    Type.String({
      description:
        'What a team member replied to it in one of these conversations. It was written to one customer: read it before you publish it.',
    }),
  ),
  sourceId: Nullable(Type.String({ description: 'The source with its answer' })),
  askedAgainAt: Nullable({
    ...IsoTime,
    description:
      'When the agent was last asked this again because its sources had changed. An open question was not found then either, unless it was asked later.',
  }),
})
