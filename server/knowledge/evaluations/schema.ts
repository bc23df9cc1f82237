import Type from 'typebox'
import { Exact, IsoTime, Nullable, Subset } from '../../platform/http/contract.ts'

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

const SetId = Nullable(Type.String({ minLength: 1, description: 'The set that the question is in' }))

export const NewEvaluation = Exact({
  question: Question,
  expectedSourceId: Type.Optional(
    Nullable(Type.String({ minLength: 1, description: 'The source that contains the answer' })),
  ),
  expectedAnswer: Type.Optional(
    Nullable({ ...Answer, description: 'A passage with most of its words counts as found' }),
  ),
  setId: Type.Optional(SetId),
})

export const EvaluationChange = Subset(NewEvaluation)

const fields = {
  id: Type.String(),
  question: Type.String(),
  expectedSourceId: Nullable(Type.String()),
  expectedAnswer: Nullable(Type.String()),
}

export const Evaluation = Exact({ ...fields, setId: SetId, createdAt: IsoTime, updatedAt: IsoTime })

const Share = Nullable(Type.Number({ minimum: 0, maximum: 1 }))

const figures = {
  questions: Type.Integer(),
  answerable: Type.Integer({ description: 'Questions with an expectation' }),
  unanswerable: Type.Integer({ description: 'Questions without an expectation, which should be declined' }),
  recallAt1: Share,
  recallAt3: Share,
  recallAt5: Share,
  mrr: Share,
  answered: Nullable(Type.Number({ description: 'Share of the answerable questions that are answered' })),
  declined: Nullable(Type.Number({ description: 'Share of the unanswerable questions that are declined' })),
}

const Results = Type.Array(
  Exact({
    ...fields,
    place: Nullable(
      Type.Integer({
        minimum: 1,
        description: 'The rank of the first passage that contains the answer, of ten',
      }),
    ),
    score: Type.Number({ description: 'How much of the question, 0 to 1, the passages found cover' }),
    isAnswered: Type.Boolean(),
    sources: Type.Array(
      Exact({ id: Type.String(), name: Nullable(Type.String()), url: Nullable(Type.String()) }),
      { description: 'The sources of the first three passages' },
    ),
  }),
)

export const EvaluationRun = Exact({ ...figures, results: Results })

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', refusal: 'Must not be blank.' })

export const EvaluationSetChange = Exact({ name: Name })

export const EvaluationSet = Exact({
  id: Type.String(),
  name: Name,
  questions: Type.Integer({ minimum: 0 }),
  createdAt: IsoTime,
})

export const NewKeptRun = Exact({
  setId: Type.Optional(
    Nullable(
      Type.String({ minLength: 1, description: 'Only the questions of this set; null: all of the agent' }),
    ),
  ),
  note: Type.Optional(Type.String({ maxLength: 200, description: 'What was changed before the run' })),
})

const kept = {
  id: Type.String(),
  setId: Nullable(Type.String()),
  setName: Nullable(Type.String({ description: 'The name at that time' })),
  note: Type.String(),
  createdAt: IsoTime,
}

export const ListedRun = Exact({ ...kept, ...figures })

export const KeptRun = Exact({ ...kept, ...figures, results: Results })
