import Type from 'typebox'
import { EpochSeconds, Exact, Nullable, OneOf } from '../../../platform/http/contract.ts'

const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description ? { description } : {}) })
export const Day = Type.String({ format: 'date', description: 'YYYY-MM-DD, UTC' })

const figures = {
  conversations: Count('That began'),
  messages: Exact({ user: Count(), assistant: Count(), person: Count('Written by the team') }),
  ratings: Exact({ positive: Count(), negative: Count() }),
  sentiments: Exact({
    positive: Count(),
    neutral: Count(),
    negative: Count(),
    unspecified: Count('Not judged by a model'),
  }),
  settled: Count('Ended, or idle for half an hour and looked at since'),
  escalated: Count('With a ticket or a takeover'),
  deflected: Count('Settled and not escalated'),
  deflection: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The deflected share of the settled conversations; null if there are none',
    }),
  ),
  unanswered: Count('Questions that the agent had nothing for'),
  outcomes: Exact(
    {
      answered: Count(),
      partly: Count(),
      notFound: Count(),
      handedOver: Count(),
      refused: Count(),
      unreported: Count('Where nobody reported it'),
    },
    { description: 'How answers of the agent ended' },
  ),
  marked: Count('Answers with values that their model was not given'),
  forbiddenTopics: Type.Array(Exact({ topic: Type.String(), answers: Count() }), {
    description:
      'Answers to questions about a forbidden topic, as models reported them; the most frequent first',
  }),
  credits: Count(),
  topics: Type.Array(Exact({ id: Type.String(), name: Type.String(), conversations: Count() }), {
    description: 'The ten with the most conversations in the whole range',
  }),
  sources: Type.Array(Exact({ source: Type.String(), conversations: Count() })),
  countries: Type.Array(
    Exact({
      country: Nullable(Type.String({ description: 'ISO 3166-1 alpha-2; null: not known' })),
      conversations: Count(),
    }),
  ),
}

export const Insights = Exact({
  startDate: Day,
  endDate: Day,
  isCurrent: Type.Boolean({ description: 'False while one of these days has to be computed again' }),
  totals: Exact(figures),
  days: Type.Array(Exact({ date: Day, ...figures })),
})

const By = Nullable(
  OneOf(['model', 'heuristic'], {
    description: 'A chat model, or word lists of former versions; null: not judged',
  }),
)

export const ConversationInsights = Exact({
  sentiment: Nullable(OneOf(['positive', 'neutral', 'negative'])),
  sentimentBy: By,
  topics: Type.Array(Exact({ id: Type.String(), name: Type.String() })),
  topicsBy: By,
  analysedAt: Nullable(EpochSeconds),
})
