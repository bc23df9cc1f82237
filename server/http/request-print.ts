import { createHash } from 'node:crypto'
import type { Multipart } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { Endpoint } from './contract.ts'
import { ApiError } from './errors.ts'
import { refuseMalformed } from './read-multipart.ts'

/** SHA-256 of what a checked request asks for: two that differ only in the order of members are equal. */
export async function requestPrint(endpoint: Endpoint, request: FastifyRequest): Promise<string> {
  const { params, query } = request
  const body =
    endpoint.multipart && request.isMultipart()
      ? await readAhead(request, endpoint.multipart.maxBytes).catch(refuseMalformed)
      : (request.body ?? {})
  return sha256()
    .update(canonical([endpoint.method, endpoint.path, params, query, body]))
    .digest('base64url')
}

const sha256 = () => createHash('sha256')

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/**
 * Reads an upload and hashes its fields and files (the raw body has a new boundary each time). The handler gets
 * the same parts from request.parts(); file() and the other ways of reading do not work any more.
 */
async function readAhead(request: FastifyRequest, maxBytes: number): Promise<string> {
  const limits = { fileSize: maxBytes, files: 5, fields: 20, fieldSize: 10_000, parts: 25 }
  const parts: Multipart[] = []
  const hash = sha256()
  let left = maxBytes
  for await (const part of request.parts({ limits })) {
    // It keeps the bytes for the next who asks.
    const bytes = part.type === 'file' ? await part.toBuffer() : null
    left -= bytes?.length ?? 0
    if (left < 0) throw new ApiError('VALIDATION_BODY_TOO_LARGE')
    const about = part.type === 'file' ? [part.filename, bytes?.length] : [part.value]
    hash.update(`${canonical([part.type, part.fieldname, ...about])}\n`).update(bytes ?? '')
    parts.push(part)
  }
  request.parts = async function* () {
    yield* parts
  }
  return hash.digest('base64url')
}
