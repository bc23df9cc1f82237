import type { TObject, TSchema } from 'typebox'
import { type ErrorCode, earlyErrors } from './errors.ts'

/**
 * The description of a route outside of the APIs: a file, a page or a webhook. Such a route takes no key, and its
 * handler reads the request and writes the response itself. Types, OpenAPI and the negative tests follow from it.
 */
export type RawEndpoint = {
  method: 'GET' | 'POST'
  /** The path from the root of the service, with {parameters}. */
  path: string
  /** More paths with the same response. A `*` at the end matches any text. */
  otherPaths?: readonly string[]
  /** The unique, stable name, which is the operationId of OpenAPI. */
  name: string
  summary: string
  description?: string
  /** Set if the OpenAPI document describes the route. */
  tag?: string
  /**
   * Who gets a response: everybody (`anyone`), whoever has the secret in the path (`link`), or whoever signs the request
   * with a secret of the account (`signature`).
   */
  access: 'anyone' | 'link' | 'signature'
  params?: TObject
  query?: TObject
  /** Headers that the handler reads, apart from those of HTTP itself. */
  headers?: TObject
  body?: RawBody
  success: {
    status: 200 | 302
    description: string
    /** The media types; a file may have any type. */
    types: readonly string[] | 'any'
    /** The schema of a JSON response. */
    schema?: TSchema
  }
  /** The error for parameters that name nothing, or something of another account. */
  unknown?: ErrorCode
  /** Set if the handler also runs during maintenance. By default the request is refused before its body is read. */
  duringMaintenance?: 'served'
  errors: readonly ErrorCode[]
}

/** How a body is read: into memory, as a stream that the handler stores, or as the fields of JSON or of a form. */
type RawBody = {
  as: 'bytes' | 'stream' | 'fields'
  /** The media types that are accepted, the usual one first; `any` accepts every type. */
  types: readonly string[] | 'any'
  maxBytes: number
  schema?: TSchema
}

/** Returns the contract with the error codes that follow from its other members. */
export function rawEndpoint<const D extends Omit<RawEndpoint, 'errors'> & { errors?: readonly ErrorCode[] }>(
  definition: D,
): Omit<D, 'errors'> & Pick<RawEndpoint, 'errors'> {
  const { method, body, unknown, duringMaintenance, errors = [] } = definition
  const codes = new Set<ErrorCode>([...(unknown ? [unknown] : []), ...errors])
  if (body) codes.add('VALIDATION_INVALID_JSON').add('VALIDATION_BODY_TOO_LARGE')
  if (body && body.types !== 'any') codes.add('VALIDATION_UNSUPPORTED_MEDIA_TYPE')
  if (method !== 'GET') codes.add('STORAGE_FULL')
  for (const code of earlyErrors) codes.add(code)
  codes.add('INTERNAL_SERVER_ERROR').add('SERVICE_OVERLOADED')
  if (duringMaintenance === undefined) codes.add('SERVICE_UNDER_MAINTENANCE')
  return { ...definition, errors: [...codes] }
}
