import Type, {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnsafe,
} from 'typebox'
import type { ErrorCode } from './errors.ts'

/** The addresses of the two versions of the API. */
export const V1 = '/api/v1'
export const V2 = '/api/v2'

/** What a key may do. A key without a list of scopes may do everything in its account. */
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

/** The only description of an endpoint. Validation, types, clients, OpenAPI and the negative tests follow from it. */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below /api/v2, with {parameters}. */
  path: string
  /** The unique, stable name, which is the operationId of OpenAPI. */
  name: string
  tag: string
  summary: string
  description?: string
  /** The scope that a caller needs; null means that the endpoint needs no key. */
  scope: Scope | null
  /** Only members who are signed in may call it, because what it is about does not exist for an API key. */
  onlySessions?: true
  /**
   * How a member who is limited to some agents may use it. By default such a member may call it when the path names
   * one of those agents. `all`: always, since the handler itself leaves out other agents. `none`: never.
   */
  limitedMembers?: 'all' | 'none'
  /**
   * Members of the response that are never stored: a repetition with the same Idempotency-Key gets null in their
   * place.
   */
  shownOnce?: readonly string[]
  deprecated?: boolean
  /**
   * The name under which a call is recorded in the audit log; set for endpoints that change permissions or what
   * answers are based on.
   */
  audit?: string
  /** The parameters of the path; by default each is an id. */
  params?: TObject | undefined
  query?: TObject
  body?: TSchema
  /** The endpoint also takes multipart/form-data with these text fields and the file field. */
  multipart?: { fields: TObject; file: string; maxBytes: number }
  /**
   * `ignored`: unknown fields of the body and unknown query parameters are dropped and named in a response header
   * (IGNORED_FIELDS), as the published service does. By default they are refused.
   */
  unknownFields?: 'ignored'
  /** Largest JSON body in bytes; default 1 MiB. */
  bodyLimit?: number
  success: { status: 200 | 201 | 202 | 204; schema: TSchema; description?: string }
  /** The schema of each event's JSON when a request with `stream: true` gets a text/event-stream response instead. */
  streams?: TSchema
  /** The response is application/x-ndjson, one object of the schema per line. */
  lines?: boolean
  /** With `format=csv`, the response is text/csv. */
  csv?: true
  /** For a GET: the members of the response that can be changed. Their version is its ETag. */
  versioned?: readonly string[]
  /**
   * For a change of settings below an agent: the GET whose ETag a request may name with If-Match, so that it does not
   * overwrite what its author has not seen. Changes of one agent with this run one after the other.
   */
  changes?: Endpoint
  /** Codes besides the common ones of error-codes.ts. */
  errors: readonly ErrorCode[]
}

/** An endpoint as a feature defines it. `errors` leaves out the codes that follow from the path. */
export type Definition = Omit<Endpoint, 'errors'> & { errors?: readonly ErrorCode[] }

/** The names in braces of a path. */
type NamesIn<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | NamesIn<Rest> : never
type IdsIn<P extends string> = [NamesIn<P>] extends [never]
  ? undefined
  : TObject<{ [N in NamesIn<P>]: TString }>

type Defined<D extends Definition> = Omit<D, 'errors' | 'params'> &
  Pick<Endpoint, 'errors'> & { params: D['params'] extends TObject ? D['params'] : IdsIn<D['path']> }

export function endpoint<const D extends Definition>(definition: D): Defined<D> {
  const { path, changes, errors = [], params = idsIn(path) } = definition
  const versions: ErrorCode[] = changes ? ['VERSION_MISMATCH'] : []
  const codes = [...new Set([...notFoundCodes(path), ...versions, ...errors])]
  return { ...definition, params: params as Defined<D>['params'], errors: codes }
}

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

function idsIn(path: string): TObject | undefined {
  const names = namesIn(path)
  const id = Type.String({ minLength: 1 })
  return names.length === 0 ? undefined : Exact(Object.fromEntries(names.map((name) => [name, id])))
}

/** Returns `endpoint` for a group that stands under one tag in the reference. */
export const endpointsOf =
  (tag: string) =>
  <const D extends Omit<Definition, 'tag'>>(definition: D) =>
    endpoint({ tag, ...definition })

/** The error for each path parameter whose object does not exist. A user id may be any text. */
const NOT_FOUND: Record<string, ErrorCode | null> = {
  agentId: 'AGENT_NOT_FOUND',
  chatbotId: 'AGENT_NOT_FOUND',
  sourceId: 'SOURCE_NOT_FOUND',
  ticketNumber: 'TICKET_NOT_FOUND',
  userId: null,
}

function notFoundCodes(path: string): ErrorCode[] {
  return namesIn(path).flatMap((name) => (name in NOT_FOUND ? (NOT_FOUND[name] ?? []) : 'RESOURCE_NOT_FOUND'))
}

/** An object schema that allows no other properties. */
export function Exact<P extends TProperties>(
  properties: P,
  options: Record<string, unknown> = {},
): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...options })
}

/** The same object schema with every property optional, and still no others allowed. */
export function Subset<P extends TProperties>(object: TObject<P>, options: Record<string, unknown> = {}) {
  return Type.Partial(object, { additionalProperties: false, ...options })
}

/** The schema or null. It is a list of types, so that errors name the field and not a union. */
export function Nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: values }: { type?: string; enum?: unknown[] } = schema
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
  description: 'pagination.cursor of the previous page',
})
export const Limit = Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Items on a page' })
export const IsoTime = Type.String({ format: 'date-time', description: 'ISO 8601, milliseconds, UTC' })
/** A bound of a date range, to be parsed with spanOf(). `rule` is a further check of the text. */
export const DayOrTime = (description: string, options: { rule?: (text: string) => string | null } = {}) =>
  Type.String({
    ...options,
    format: 'day-or-time',
    refusal: 'Must be a day as YYYY-MM-DD or an ISO 8601 date-time.',
    description: `${description}: YYYY-MM-DD (UTC, the end included) or an ISO 8601 date-time`,
  })
/** Comma-separated values, to be parsed with commaList(). If `known` is not empty, other values are refused. */
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

/** Returns the distinct, trimmed values of a comma-separated parameter. */
export const commaList = (text: string | undefined): string[] => [
  ...new Set(
    (text ?? '')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== ''),
  ),
]

/**
 * Returns a sentence for a list that is empty or contains an unknown value. If `known` is empty, all values are
 * accepted.
 */
function problemOfList(text: string, known: readonly string[]): string | null {
  const values = commaList(text)
  if (values.length === 0) return 'Must contain at least one value.'
  const unknown = values.find((value) => !known.includes(value))
  return known.length === 0 || unknown === undefined
    ? null
    : `${JSON.stringify(unknown)} is not known here. Use a comma-separated list of: ${known.join(', ')}.`
}
