import Type from 'typebox'
import { EpochSeconds, Exact, endpoint, OneOf } from '../../platform/http/contract.ts'

export const getHealth = endpoint({
  method: 'GET',
  path: '/health',
  name: 'getHealth',
  unknownFields: 'ignored',
  tag: 'Health',
  summary: 'Check whether the service is available',
  description:
    'Needs no key, does not count towards the rate limit, and works during maintenance. While the database is unavailable, it returns 503 with the reason. `storage` is `full` while the disk is nearly full: then writes get 503 `STORAGE_FULL`, and reads work. With `details`, there are further fields: `search` is `words` while an embedding model is configured and the database cannot store its vectors, because pgvector is missing; the command `doctor` says what to do. `embedding` is `none` while there is no embedding model, so that questions are searched by their words alone: the command `models get` fetches one that the service runs itself. `documents` is `not_isolated` where the processes that read documents could reach the network; the command `doctor` says why. `indexBytesPerRow` is the size of the words and vectors of documents on the disk for each of their rows: when it has grown to a multiple, the command `spaces rebuild` makes it small again.',
  scope: null,
  query: Exact({
    details: Type.Optional(OneOf(['true'], { description: 'Adds what is not an outage' })),
  }),
  success: {
    status: 200,
    schema: Exact({
      status: Type.Literal('ok'),
      timestamp: EpochSeconds,
      storage: Type.Optional(Type.Literal('full')),
      search: Type.Optional(Type.Literal('words')),
      embedding: Type.Optional(Type.Literal('none')),
      documents: Type.Optional(Type.Literal('not_isolated')),
      indexBytesPerRow: Type.Optional(Type.Integer({ minimum: 0 })),
    }),
  },
})
