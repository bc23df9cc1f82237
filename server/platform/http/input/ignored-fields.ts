import type { FastifyReply } from 'fastify'
import { recordOf } from '../../unknown-values.ts'

/** The response header that names unknown fields of the body and the query, which were ignored. */
const IGNORED_FIELDS = 'x-parley-ignored-fields'

const MAX_COUNT = 20
const MAX_LENGTH = 100

/** Sets the response header with the ignored fields. The client chooses their names, so they may contain anything. */
export function nameIgnored(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length === 0) return
  const known = String(reply.getHeader(IGNORED_FIELDS) ?? '')
  const names = paths.map((path) => encodeURIComponent(path.slice(0, MAX_LENGTH).toWellFormed()))
  const all = [...known.split(',').filter((name) => name !== ''), ...names]
  reply.header(IGNORED_FIELDS, all.slice(0, MAX_COUNT).join(','))
}

/** An empty `cursor` requests the first page, because some clients send it for their first request. */
export function dropEmptyCursor(query: unknown): void {
  const values = recordOf(query)
  if (values.cursor === '') delete values.cursor
}
