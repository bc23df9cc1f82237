import Type from 'typebox'
import { Exact, Nullable } from '../../../http/contract.ts'

/** The marker [n] in a text refers to the n-th of its `sources`. */
export const CitedSource = Exact({
  id: Type.String(),
  name: Nullable(Type.String()),
  url: Nullable(
    Type.String({ description: 'Of a file: an address that opens it for a day from when it was read' }),
  ),
  score: Type.Number({ description: '0 to 1' }),
  page: Nullable(Type.Integer({ description: 'Of a file with pages, from 1' })),
  anchor: Nullable(Type.String({ description: 'The fragment of the address that leads to the passage' })),
  quote: Type.String({ description: 'What the passage says' }),
})
