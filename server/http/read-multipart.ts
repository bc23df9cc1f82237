import type { FastifyRequest } from 'fastify'
import { ApiError } from './errors.ts'
import type { Details } from './validate.ts'

export type Upload = { filename: string; bytes: Uint8Array }

export type Multipart = {
  fields: Record<string, unknown>
  file: Upload | null
  /** What is wrong with the parts as such, by field. */
  problems: Details
}

type Expected = { file: string; maxBytes: number }

/**
 * Reads a multipart body: text fields, and one file of at most `maxBytes` (else 413) under the name `file`. Throws
 * VALIDATION_INVALID_BODY for a body that is cut short, malformed, or of more parts than any form has.
 */
export async function readMultipart(request: FastifyRequest, expected: Expected): Promise<Multipart> {
  return readParts(request, expected).catch(refuseMalformed)
}

/** Says of what went wrong with reading parts that the body was. Throws VALIDATION_INVALID_BODY or _BODY_TOO_LARGE. */
export function refuseMalformed(error: unknown): never {
  if (error instanceof ApiError || (error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE') throw error
  const message = 'The multipart body is malformed, cut short, or has too many parts.'
  throw new ApiError('VALIDATION_INVALID_BODY', { message, cause: error })
}

async function readParts(request: FastifyRequest, { file: name, maxBytes }: Expected): Promise<Multipart> {
  const fields: Record<string, unknown> = {}
  const problems: Details = {}
  let file: Upload | null = null
  const limits = { fileSize: maxBytes, files: 5, fields: 20, fieldSize: 10_000, parts: 25 }
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') {
      if (Object.hasOwn(fields, part.fieldname)) problems[part.fieldname] = 'Must be sent once.'
      fields[part.fieldname] = part.value
      continue
    }
    // Read also when it is refused: the rest of the body comes after it.
    const bytes = await part.toBuffer()
    if (part.fieldname !== name) {
      problems[part.fieldname] = `This file is not known here; the file goes into "${name}".`
    } else if (file) problems[name] = 'Only one file can be sent.'
    else file = { filename: part.filename, bytes }
  }
  return { fields, file, problems }
}
