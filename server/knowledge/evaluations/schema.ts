import Type from 'typebox'
import { Exact, IsoTime, Nullable, Subset } from '../../http/contract.ts'

const Question = Type.String({
  minLength: 1,
  maxLength: 1_000,
  pattern: '\\S',
  refusal: 'Must not be blank.',
})
const Answer = Type.String({
  minLength: 1,
  maxLength: 10_000,
  pattern: '\\S',
  refusal: 'Must not be blank.',
})

export const NewEvaluation = Exact({
  question: Question,
  expectedSourceId: Type.Optional(
    Nullable(Type.String({ minLength: 1, description: 'The source that holds the answer' })),
  ),
  expectedAnswer: Type.Optional(
    Nullable({ ...Answer, description: 'A passage with most of its words counts as found' }),
  ),
})

export const EvaluationChange = Subset(NewEvaluation)

const fields = {
  id: Type.String(),
  question: Type.String(),
  expectedSourceId: Nullable(Type.String()),
  expectedAnswer: Nullable(Type.String()),
}

export const Evaluation = Exact({ ...fields, createdAt: IsoTime, updatedAt: IsoTime })

const Share = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

export const EvaluationRun = Exact({
  questions: Type.Integer(),
  answerable: Type.Integer({ description: 'Questions with an expectation' }),
  unanswerable: Type.Integer({ description: 'Questions without one: they are to be declined' }),
  recallAt1: Share,
  recallAt3: Share,
  recallAt5: Share,
  mrr: Share,
  answered: Nullable(Type.Number({ description: 'Share of the answerable questions that are answered' })),
  declined: Nullable(Type.Number({ description: 'Share of the unanswerable questions that are declined' })),
  results: Type.Array(
    Exact({
      ...fields,
      place: Nullable(
        Type.Integer({ minimum: 1, description: 'Of the first passage that holds the answer, of ten' }),
      ),
      score: Type.Number({ description: 'How likely, 0 to 1, the passages found hold an answer' }),
      isAnswered: Type.Boolean(),
      sources: Type.Array(
        Exact({ id: Type.String(), name: Nullable(Type.String()), url: Nullable(Type.String()) }),
        { description: 'Of the first three passages' },
      ),
    }),
  ),
})
