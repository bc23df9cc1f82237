import type { TSchema } from 'typebox'
import { errorCodes } from '../errors.ts'
import type { RawEndpoint } from '../raw-endpoint.ts'
import type { Json } from './openapi-schemas.ts'

/** Returns the OpenAPI path items of the routes that have a tag. */
export function rawPaths(endpoints: RawEndpoint[]): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    const { path, method, tag } = endpoint
    if (tag !== undefined) paths[path] = { ...paths[path], [method.toLowerCase()]: operation(endpoint, tag) }
  }
  return paths
}

function operation(endpoint: RawEndpoint, tag: string): Json {
  const { name, summary, description, params, query, headers, body, success } = endpoint
  const types = success.types === 'any' ? ['application/octet-stream'] : success.types
  const schema = success.schema ?? { type: 'string', description: success.description }
  return {
    tags: [tag],
    // The signature identifies the sender; there is no key.
    security: [],
    operationId: name,
    summary,
    description: description ?? `${summary}.`,
    parameters: [
      ...parameters('path', params),
      ...parameters('query', query),
      ...parameters('header', headers),
    ],
    ...(body
      ? {
          requestBody: {
            required: true,
            content: {
              [body.types === 'any' ? 'application/json' : (body.types[0] ?? '')]: { schema: body.schema },
            },
          },
        }
      : {}),
    responses: {
      [success.status]: {
        description: success.description,
        content: Object.fromEntries(types.map((type) => [type, { schema }])),
      },
      ...failures(endpoint),
    },
  }
}

function parameters(place: 'path' | 'query' | 'header', object: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (object ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    required: required.includes(name),
    description,
    schema,
  }))
}

function failures({ errors }: RawEndpoint): Json {
  const byStatus = Map.groupBy(errors, (code) => errorCodes[code][0])
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  )
}
