import type { TSchema } from 'typebox'
import type { Endpoint } from './contract.ts'
import { type ErrorCode, errorCodes } from './error-codes.ts'
import { declared } from './serve.ts'

type Json = Record<string, unknown>

const DESCRIPTION = `Parley hosts AI agents that answer from your own documents.

Send the key as \`Authorization: Bearer <API_KEY>\`. Every answer carries \`x-request-id\` and the headers \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix epoch milliseconds); 100 requests pass in any 10 seconds per key and address. Lists answer \`{data, pagination}\`; pass \`pagination.cursor\` back unchanged for the next page.`

/** The OpenAPI 3.1 document of these endpoints, which are the only description of the API. */
export function openApiDocument(endpoints: Endpoint[], serverUrl: string): Json {
  const paths: Record<string, Json> = {}
  for (const endpoint of endpoints) {
    paths[endpoint.path] ??= {}
    paths[endpoint.path]![endpoint.method.toLowerCase()] = operation(endpoint)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Parley API', version: '2.0.0', description: DESCRIPTION },
    servers: [{ url: serverUrl }],
    security: [{ key: [] }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: errorSchema },
    },
  }
}

/** What our schemas say to ourselves. */
const OWN_KEYWORDS = new Set(['refusal', 'rule'])

const errorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        details: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes it safe to send the request again: an equal one with this key gets the first answer.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

const idempotencyReplayed: Json = {
  description: 'The answer, or the generation, is that of an earlier request with this Idempotency-Key.',
  schema: { const: 'true' },
}

function operation(endpoint: Endpoint): Json {
  const body = requestBody(endpoint)
  return {
    operationId: endpoint.name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...(endpoint.description ? { description: endpoint.description } : {}),
    ...(endpoint.deprecated ? { deprecated: true } : {}),
    ...(endpoint.scope ? { 'x-scope': endpoint.scope } : { security: [] }),
    parameters: [
      ...parameters('path', endpoint.params),
      ...parameters('query', endpoint.query),
      ...(endpoint.method === 'POST' ? [idempotencyKey] : []),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: { ...success(endpoint), ...failures(endpoint) },
  }
}

function parameters(place: 'path' | 'query', schema: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    // A member with a default need not be sent.
    required: place === 'path' || (required.includes(name) && !('default' in property)),
    ...(property.description ? { description: property.description } : {}),
    schema: shown(property),
  }))
}

function requestBody({ body, multipart }: Endpoint): Json | null {
  if (!body && !multipart) return null
  const content: Json = {}
  if (body) content['application/json'] = { schema: shown(body) }
  if (multipart) {
    const fields = shown(multipart.fields) as { properties: Json; required?: string[] }
    const file = { type: 'string', format: 'binary' }
    content['multipart/form-data'] = {
      schema: { ...fields, properties: { ...fields.properties, [multipart.file]: file } },
    }
  }
  return { required: true, content }
}

const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } }

function success({ method, success: { status, schema, description }, streams, lines }: Endpoint): Json {
  const content: Json = { [lines ? 'application/x-ndjson' : 'application/json']: { schema: shown(schema) } }
  if (streams) Object.assign(content, EVENTS)
  const answer = {
    description: description ?? 'Success',
    ...(method === 'POST' ? { headers: { 'Idempotency-Replayed': idempotencyReplayed } } : {}),
    ...(status === 204 ? {} : { content }),
  }
  // A stream is a 200 of its own where the answer without one has no body.
  return status === 204 && streams
    ? { 200: { description: 'Success', content: EVENTS }, 204: answer }
    : { [status]: answer }
}

/** One entry a status, naming the codes that come with it. */
function failures(endpoint: Endpoint): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  const codes = endpoint.scope === null ? [] : [...declared(endpoint)]
  for (const code of codes)
    byStatus.set(errorCodes[code][0], [...(byStatus.get(errorCodes[code][0]) ?? []), code])
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      { description: list.map((code) => `\`${code}\``).join(', '), content },
    ]),
  )
}

/** A schema as the document shows it: members with defaults optional, our own keywords left out. */
function shown(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shown)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Json = {}
  for (const [name, value] of Object.entries(schema)) if (!OWN_KEYWORDS.has(name)) copy[name] = shown(value)
  const { properties, required } = copy as { properties?: Record<string, Json>; required?: string[] }
  if (properties && Array.isArray(required)) {
    copy.required = required.filter((name) => !('default' in (properties[name] ?? {})))
  }
  return copy
}
