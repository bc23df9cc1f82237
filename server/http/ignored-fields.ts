import type { FastifyReply } from 'fastify'

/** The response header that names the fields and query parameters dropped because they are unknown. */
export const IGNORED_FIELDS = 'x-parley-ignored-fields'

const MOST = 20
const LONGEST = 100

/**
 * Adds the names of ignored fields to the response header. They are percent-encoded and truncated, because clients
 * may send any name.
 */
export function nameIgnored(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length === 0) return
  const known = String(reply.getHeader(IGNORED_FIELDS) ?? '')
  const names = paths.map((path) => encodeURIComponent(path.slice(0, LONGEST).toWellFormed()))
  const all = [...known.split(',').filter((name) => name !== ''), ...names]
  reply.header(IGNORED_FIELDS, all.slice(0, MOST).join(','))
}

/** Deletes query parameters with an empty value, such as `cursor=`, which clients of the published service send. */
export function dropEmpty(query: unknown): void {
  const values = query as Record<string, unknown>
  for (const name of Object.keys(values)) if (values[name] === '') delete values[name]
}
