import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Form } from '../bodies/uploads.ts'
import type { Endpoint } from '../contract.ts'

/**
 * Returns the SHA-256 hash of a validated request. Requests that differ only in the order of members have the same
 * hash.
 */
export function requestPrint(
  { method, path }: Endpoint,
  { params, query, body }: FastifyRequest,
  form: Form | null,
): string {
  const asked = form ? [form.fields, form.file?.filename, form.hash] : (body ?? {})
  return createHash('sha256')
    .update(canonical([method, path, params, query, asked]))
    .digest('base64url')
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
