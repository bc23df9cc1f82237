import type { TSchema } from 'typebox'
import type { Endpoint } from '../contract.ts'
import { commonErrors, type ErrorCode, earlyErrors, errorCodes } from '../errors.ts'
import type { RawEndpoint } from '../raw-endpoint.ts'
import { declared } from '../server/render-error.ts'
import { documentedHeaders } from './openapi-headers.ts'
import { rawPaths } from './openapi-raw.ts'
import { componentSchemas, type Json, type SchemaWriter, schemaWriter } from './openapi-schemas.ts'

const DESCRIPTION = `Parley hosts AI agents that answer from your own documents.

Send the key as \`Authorization: Bearer <API_KEY>\`. Every answer carries \`x-request-id\` and the headers \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (Unix epoch milliseconds); 100 requests pass in any 10 seconds per key and address unless the operator has set another limit. Lists answer \`{data, pagination}\`; pass \`pagination.cursor\` back unchanged for the next page.

Paths of version 2 are relative to \`/api/v2\`. Version 1 (\`/api/v1\`) and the webhooks name their server beside their path.`

/** What the OpenAPI document describes. */
export type Described = {
  endpoints: Endpoint[]
  /** Endpoints below /api/v1. */
  version1: Endpoint[]
  /** Routes outside of the APIs; those with a tag are described. */
  raw: RawEndpoint[]
  /** The schemas that responses refer to, by name. */
  schemas: Record<string, TSchema>
  tags: Record<string, string>
}

/**
 * Returns the OpenAPI 3.1 document. `root` is the base URL of the service; if empty, the server URLs are relative to
 * the URL of the document.
 */
export function openApiDocument({ endpoints, version1, raw, schemas, tags }: Described, root = ''): Json {
  const write = schemaWriter(schemas)
  const responses: Json = {}
  const paths: Record<string, Json> = {}
  const add = (endpoint: Endpoint, version: 1 | 2): void => {
    const { path, method } = endpoint
    paths[path] ??= version === 1 ? { servers: [server(`${root}/api/v1`, 'Version 1')] } : {}
    paths[path][method.toLowerCase()] = operation(endpoint, version, write, responses)
  }
  for (const endpoint of endpoints) add(endpoint, 2)
  for (const endpoint of version1) add(endpoint, 1)
  for (const [path, item] of Object.entries(rawPaths(raw)))
    paths[path] = { servers: [server(root || '/', 'The service itself')], ...item }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Parley API',
      version: '2.0.0',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [server(`${root}/api/v2`, 'Version 2, production')],
    security: [{ key: [] }, { session: [] }],
    tags: Object.entries(tags)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of the account' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'parley.session_token',
          description:
            'A member who is signed in with a browser (behind HTTPS, the name has the prefix `__Secure-`). Changes need the header `x-parley-session: 1` and an `Origin` of the service. Version 1 accepts keys only.',
        },
      },
      headers: documentedHeaders,
      responses,
      schemas: {
        Error: errorSchema,
        VersionMismatch: mismatchSchema,
        Version1Error: version1Error,
        ...componentSchemas(schemas),
      },
    },
  }
}

const server = (url: string, description: string): Json => ({ url, description, 'x-internal': false })

const errorSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: 'For programs', examples: Object.keys(errorCodes) },
        message: { type: 'string', description: 'For people' },
        details: {
          type: 'object',
          description: 'A sentence for each invalid field',
          additionalProperties: { type: 'string' },
        },
      },
    },
  },
}

const mismatchSchema: Json = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', const: 'VERSION_MISMATCH' },
        message: { type: 'string', description: 'For people' },
        details: {
          type: 'object',
          description: 'Only for callers who may read the object',
          required: ['current'],
          properties: {
            current: { type: 'object', description: 'The object as it is now', additionalProperties: true },
            changedBy: { type: 'string', description: 'The name of who made the last change' },
            changedAt: { type: 'string', format: 'date-time' },
          },
        },
      },
    },
  },
}

const version1Error: Json = {
  type: 'object',
  required: ['message'],
  properties: {
    message: { type: 'string' },
    issues: {
      type: 'array',
      description: 'For custom attributes: what is wrong with the body',
      items: {
        type: 'object',
        required: ['field', 'message'],
        properties: { field: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes it safe to repeat the request: an equal request with this key gets the first response.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The ETag of the version that was read. If it has been changed since, nothing happens, and the response is `VERSION_MISMATCH` with the object as it is now and its ETag.',
  schema: { type: 'string', maxLength: 1_000 },
}

const lastEventId: Json = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Continue after this event',
  schema: { type: 'string', maxLength: 15, pattern: '^\\d{1,15}$' },
}

/** The length limit of text parameters: no URL is longer. */
const MAX_ADDRESS_LENGTH = 16_384

const bounded = (schema: Json): Json =>
  schema.type === 'string' && !('enum' in schema || 'const' in schema)
    ? { maxLength: MAX_ADDRESS_LENGTH, ...schema }
    : schema

const DESCRIBED_PARAMETERS: Record<string, string> = {
  agentId: 'The agent',
  conversationId: 'The conversation',
  messageId: 'The message',
  sourceId: 'The source',
  ticketNumber: 'The number of the ticket',
  userId: 'The user id of the conversations',
  chatbotId: 'The chatbot: an agent of version 2',
}

function operation(endpoint: Endpoint, version: 1 | 2, write: SchemaWriter, shared: Json): Json {
  const { name, method, summary } = endpoint
  const body = requestBody(endpoint, write)
  const isOpen = endpoint.unknownFields === 'ignored'
  const description = [
    endpoint.description ?? `${summary}.`,
    isOpen || !(endpoint.body || endpoint.query) ? '' : 'Unknown fields are refused.',
  ]
  return {
    operationId: version === 1 ? `v1${name[0]?.toUpperCase()}${name.slice(1)}` : name,
    tags: [version === 1 ? 'Version 1' : endpoint.tag],
    summary,
    description: description.filter(Boolean).join(' '),
    ...(endpoint.deprecated ? { deprecated: true } : {}),
    ...(endpoint.scope ? { 'x-scope': endpoint.scope } : { security: [] }),
    ...(endpoint.onlySessions ? { security: [{ session: [] }] } : {}),
    ...(version === 1 ? { security: [{ key: [] }] } : {}),
    parameters: [
      ...parameters('path', endpoint.params, write),
      ...parameters('query', endpoint.query, write),
      ...(method === 'POST' && endpoint.scope !== null ? [idempotencyKey] : []),
      ...(method === 'GET' && endpoint.streams ? [lastEventId] : []),
      ...(endpoint.changes ? [ifMatch] : []),
    ],
    ...(body ? { requestBody: body } : {}),
    responses: { ...success(endpoint, version, write), ...failures(endpoint, version, shared) },
  }
}

function parameters(place: 'path' | 'query', schema: TSchema | undefined, write: SchemaWriter): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    // A member with a default is optional.
    required: place === 'path' || (required.includes(name) && !('default' in property)),
    description: property.description ?? DESCRIBED_PARAMETERS[name] ?? `Its ${name}`,
    schema: bounded(write.sent(property) as Json),
  }))
}

function requestBody({ body, multipart, unknownFields }: Endpoint, write: SchemaWriter): Json | null {
  if (!body && !multipart) return null
  const isOpen = unknownFields === 'ignored'
  const content: Json = {}
  if (body) content['application/json'] = { schema: write.sent(body, isOpen) }
  if (multipart) {
    const fields = write.sent(multipart.fields, isOpen) as { properties: Json; required?: string[] }
    const file = { type: 'string', format: 'binary', maxLength: multipart.maxBytes }
    content['multipart/form-data'] = {
      schema: { ...fields, properties: { ...fields.properties, [multipart.file]: file } },
    }
  }
  return { required: true, content }
}

const headers = (...names: string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

const COMMON = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

function success(endpoint: Endpoint, version: 1 | 2, write: SchemaWriter): Json {
  const { method, streams, lines, csv, unknownFields, deprecated } = endpoint
  const { status, schema, description = 'Success' } = endpoint.success
  const events: Json = {}
  if (streams) events['text/event-stream'] = { schema: write.answered(streams) }
  if (streams && version === 1)
    events['text/plain'] = { schema: { type: 'string', description: 'The reply' } }
  if (csv) events['text/csv'] = { schema: { type: 'string', description: 'With `format=csv`' } }
  const sent = headers(
    ...COMMON,
    ...(method === 'POST' ? ['Idempotency-Replayed'] : []),
    ...(unknownFields === 'ignored' ? ['X-Parley-Ignored-Fields'] : []),
    ...(deprecated ? ['Deprecation'] : []),
    ...(endpoint.versioned ? ['ETag'] : []),
  )
  const content = {
    [lines ? 'application/x-ndjson' : 'application/json']: { schema: write.answered(schema) },
  }
  if (status !== 204) return { [status]: { description, headers: sent, content: { ...content, ...events } } }
  // If the response without a stream has no body, the stream is a separate 200.
  const stream = { description: 'A stream of events', headers: sent, content: events }
  return { ...(streams ? { 200: stream } : {}), 204: { description, headers: sent } }
}

/** Codes that are about the caller's key or session. */
const OF_CALLERS: ErrorCode[] = [
  'AUTH_MISSING_API_KEY',
  'AUTH_INVALID_API_KEY',
  'AUTH_EXPIRED_API_KEY',
  'AUTH_INSUFFICIENT_PERMISSIONS',
  'AUTH_SESSION_ENDED',
  'SUBSCRIPTION_API_RESTRICTED_PLAN',
  'IDEMPOTENCY_KEY_REUSED',
]

function codesOf(endpoint: Endpoint): ErrorCode[] {
  const codes = [...declared(endpoint)]
  if (endpoint.scope !== null) return codes
  if (endpoint.method !== 'GET') return codes.filter((code) => !OF_CALLERS.includes(code))
  return [...earlyErrors, ...endpoint.errors, 'INTERNAL_SERVER_ERROR', 'SERVICE_OVERLOADED']
}

/**
 * Returns one response per status, which names the codes with that status. Many endpoints have the same responses, so
 * these are collected in `shared`.
 */
function failures(endpoint: Endpoint, version: 1 | 2, shared: Json): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  const codes = codesOf(endpoint)
  for (const code of codes) {
    const [status] = errorCodes[code]
    // Version 1 used a single status for everything that is denied.
    const shownAs = version === 1 && [402, 422].includes(status) ? 403 : status
    byStatus.set(shownAs, [...(byStatus.get(shownAs) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => {
      const isVersion1 = version === 1 && !list.every((code) => isEarly(code))
      const name = responseName(isVersion1 ? 1 : 2, status, list)
      shared[name] ??= {
        description: list.map((code) => `\`${code}\``).join(', '),
        headers: headers(
          ...COMMON,
          ...(status === 429 ? ['Retry-After'] : []),
          ...(status === 412 ? ['ETag'] : []),
        ),
        content: { 'application/json': { schema: schemaOf(isVersion1, status, list) } },
      }
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

const isEarly = (code: ErrorCode): boolean => (earlyErrors as readonly ErrorCode[]).includes(code)

/** Generators derive names of types from it, so it leaves out the codes that every endpoint with that status has. */
function responseName(version: 1 | 2, status: number, codes: ErrorCode[]): string {
  const usual = [...earlyErrors, ...commonErrors].filter((code) => errorCodes[code][0] === status)
  const hasUsual = usual.every((code) => codes.includes(code))
  const own = hasUsual ? codes.filter((code) => !usual.some((one) => one === code)) : ['only', ...codes]
  return [`v${version}`, status, ...own].join('.')
}

/** Returns the schema of an error with one of these codes. */
function schemaOf(isVersion1: boolean, status: number, codes: ErrorCode[]): Json {
  if (isVersion1) return refTo('Version1Error')
  const code = { enum: codes }
  const error = { type: 'object', properties: { code } }
  return {
    allOf: [refTo(status === 412 ? 'VersionMismatch' : 'Error'), { type: 'object', properties: { error } }],
  }
}

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
