import type { Json } from './openapi-schemas.ts'

const header = (description: string, schema: Json): Json => ({ description, schema })
const count = { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

/** The headers of responses, by the names under which the document refers to them. */
export const documentedHeaders: Json = {
  'X-Request-Id': header('Names the request; report it with a problem.', {
    type: 'string',
    maxLength: 64,
    pattern: '^[\\w-]{1,64}$',
  }),
  'X-RateLimit-Limit': header('Requests that pass in a window.', count),
  'X-RateLimit-Remaining': header('Requests that are left in the window.', count),
  'X-RateLimit-Reset': header(
    'When the oldest request leaves the window, in Unix epoch milliseconds.',
    count,
  ),
  'Retry-After': header('Seconds to wait.', { ...count, minimum: 1 }),
  'Idempotency-Replayed': header(
    'The response, or the generation, is that of an earlier request with this Idempotency-Key.',
    { type: 'string', const: 'true' },
  ),
  'X-Parley-Ignored-Fields': header(
    'Unknown body fields and query parameters that were ignored: percent-encoded paths, separated by commas, at most 20.',
    { type: 'string', maxLength: 20_000 },
  ),
  ETag: header('The version of what can be changed, for If-Match.', {
    type: 'string',
    maxLength: 100,
    pattern: '^"[!#-~]*"$',
  }),
  Deprecation: header('The endpoint is deprecated.', { type: 'string', maxLength: 40 }),
}
