import Type, { type Static, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox'
import { problemOfList } from './comma-list.ts'
import type { ErrorCode } from './error-codes.ts'

/** What a key may do; a key without a scope list may do everything in its account. */
export const scopes = [
  'account:read',
  'agents:read',
  'agents:write',
  'sources:read',
  'sources:write',
  'actions:read',
  'actions:write',
  'chat',
  'conversations:read',
  'conversations:write',
  'helpdesk:read',
  'helpdesk:write',
  'messaging:read',
  'messaging:write',
  'privacy:read',
  'privacy:write',
  'members:read',
  'members:write',
  'keys:read',
  'keys:write',
  'audit:read',
] as const
export type Scope = (typeof scopes)[number]

/** The only description of an endpoint: validation, types, client, OpenAPI and the negative tests follow. */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v2, with {parameters}. */
  path: string
  /** Stable name, unique: operationId of OpenAPI. */
  name: string
  tag: string
  summary: string
  description?: string
  /** null: no key needed. */
  scope: Scope | null
  /** Only for a member who is signed in: a key has nothing of what it is about. */
  onlySessions?: true
  /**
   * What a member who is limited to some agents may ask. Default: what names one of them in its path. `all`: anything,
   * since its handler leaves out other agents; `none`: nothing.
   */
  limitedMembers?: 'all' | 'none'
  /** Members of the answer that are never stored: a repetition with the same Idempotency-Key is answered null in their place. */
  shownOnce?: readonly string[]
  deprecated?: boolean
  /** It changes who may do what, or what is answered from: noted in the audit log under this name. */
  audit?: string
  params?: TObject
  query?: TObject
  body?: TSchema
  /** The endpoint also takes multipart/form-data with these text fields and the file field. */
  multipart?: { fields: TObject; file: string; maxBytes: number }
  /**
   * `ignored`: as the published service does, fields of the body and parameters of the query that are not known are
   * left out and named in the answer's header (IGNORED_FIELDS). Default: they are refused.
   */
  unknownFields?: 'ignored'
  /** Largest JSON body in bytes; default 1 MiB. */
  bodyLimit?: number
  success: { status: 200 | 201 | 202 | 204; schema: TSchema; description?: string }
  /** With `stream: true` the answer is text/event-stream instead; what each event holds as JSON. */
  streams?: TSchema
  /** The answer is application/x-ndjson: objects of the schema, one a line. */
  lines?: boolean
  /** Codes besides the common ones of error-codes.ts. */
  errors: readonly ErrorCode[]
}

export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition
}

/** An object without other properties than these. */
export function Exact<P extends TProperties>(
  properties: P,
  options: Record<string, unknown> = {},
): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

/** The same members, each of them optional, and still no others. */
export function Subset<P extends TProperties>(object: TObject<P>, options: Record<string, unknown> = {}) {
  return Type.Partial(object, { additionalProperties: false, ...options })
}

/** The schema or null; written as a type list, so that errors name the field and not a union. */
export function Nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] }
  if (!type) return Type.Unsafe({ anyOf: [schema, { type: 'null' }] })
  return Type.Unsafe({ ...schema, type: [type, 'null'], ...(values ? { enum: [...values, null] } : {}) })
}

/** One of these strings. */
export function OneOf<const V extends readonly string[]>(values: V, options: Record<string, unknown> = {}) {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...options })
}

/** Exactly one of the alternatives, told apart by a member that each holds as a constant. */
export function TaggedUnion<S extends TObject[]>(tag: string, alternatives: [...S]) {
  return Type.Unsafe<Static<S[number]>>({
    type: 'object',
    discriminator: { propertyName: tag },
    required: [tag],
    oneOf: alternatives,
  })
}

export const Cursor = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'pagination.cursor of the page before',
})
export const Limit = Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, milliseconds, UTC' })
/** A point of a range, read with spanOf(); `rule`: what else is to be said of it. */
export const DayOrTime = (description: string, options: { rule?: (text: string) => string | null } = {}) =>
  Type.String({
    ...options,
    format: 'day-or-time',
    refusal: 'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.',
    description: `${description}: YYYY-MM-DD (UTC, the end included) or an ISO 8601 date-time`,
  })
/** Comma-separated values, read with commaList(); `known`: no others are taken. */
export const CommaList = (description: string, known: readonly string[] = []) =>
  Type.String({
    minLength: 1,
    maxLength: 2048,
    rule: (text: string) => problemOfList(text, known),
    description: `Comma-separated: ${known.length > 0 ? `${known.join(', ')}; ` : ''}${description}`,
  })
export const EpochSeconds = Type.Integer({ description: 'Unix epoch seconds' })

/** `{data, pagination}` of every list (service-api, "Pagination envelope"). */
export function Page<S extends TSchema>(item: S) {
  return Exact({
    data: Type.Array(item),
    pagination: Exact({
      cursor: Nullable(Type.String()),
      hasMore: Type.Boolean(),
      total: Type.Integer({ minimum: 0 }),
    }),
  })
}

export const Success = Exact({ success: Type.Literal(true) })
