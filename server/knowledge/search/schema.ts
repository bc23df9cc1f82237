import Type from 'typebox'
import { Exact, Nullable } from '../../platform/http/contract.ts'

export const VectorProblem = Nullable(
  Type.String({
    description:
      'Why the search was by words alone although the agent has vectors, such as an embedding server that did not answer; otherwise null',
  }),
)

export const EmbeddingUse = Exact(
  {
    model: Type.String(),
    texts: Type.Integer({ minimum: 0 }),
    tokens: Type.Integer({ minimum: 0 }),
    estimated: Type.Integer({
      minimum: 0,
      description:
        'How many of the tokens are estimated, because the server does not say how many there were',
    }),
    dollars: Nullable(Type.Number({ minimum: 0, description: 'null: the price is not known' })),
  },
  {
    description:
      'What was sent to the embedding model for the question: nothing for one whose vector is remembered; null: no vectors were searched',
  },
)
