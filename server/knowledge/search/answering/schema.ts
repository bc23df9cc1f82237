import Type from 'typebox'
import { Exact, Nullable } from '../../../platform/http/contract.ts'

/** The marker [n] in a text refers to the n-th of its `sources`. */
export const CitedSource = Exact({
  id: Type.String(),
  name: Nullable(Type.String()),
  url: Nullable(Type.String({ description: 'For a file: an address that is valid for a day' })),
  score: Type.Number({ description: '0 to 1' }),
  page: Nullable(Type.Integer({ description: 'The page of a file with pages, from 1' })),
  anchor: Nullable(Type.String({ description: 'The fragment of the address that points to the passage' })),
  headingPath: Type.Array(Type.String(), {
    description: 'The headings above the passage, outermost first; empty if there are none',
  }),
  quote: Type.String({ description: 'The text of the passage' }),
})
