import type { FastifyReply } from 'fastify'

/** Names what of the body and the query was left out because it is not known. */
const IGNORED_FIELDS = 'x-parley-ignored-fields'

const MOST = 20
const LONGEST = 100

/** Says in the answer's header which fields were ignored; their names are the client's and may hold anything. */
export function nameIgnored(reply: FastifyReply, paths: readonly string[]): void {
  if (paths.length === 0) return
  const known = String(reply.getHeader(IGNORED_FIELDS) ?? '')
  const names = paths.map((path) => encodeURIComponent(path.slice(0, LONGEST).toWellFormed()))
  const all = [...known.split(',').filter((name) => name !== ''), ...names]
  reply.header(IGNORED_FIELDS, all.slice(0, MOST).join(','))
}

/** An empty `cursor` asks for the first page: clients that page through a list send it that way at first. */
export function dropEmptyCursor(query: unknown): void {
  const values = query as Record<string, unknown>
  if (values.cursor === '') delete values.cursor
}
