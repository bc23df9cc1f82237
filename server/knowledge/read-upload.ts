import { extname } from 'node:path'
import type { FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ApiError } from '../http/errors.ts'
import { readMultipart, type Upload } from '../http/read-multipart.ts'
import { bodyValidator, refuseInvalid } from '../http/validate.ts'
import type { DocumentType } from './extract/extracted-document.ts'
import { sniffType } from './extract/sniff-type.ts'
import { MAX_FILE_BYTES } from './limits.ts'
import { FileFields, FileUpdateFields } from './schema.ts'

export type UploadedFile = { filename: string; type: DocumentType; bytes: Uint8Array }

const LONGEST_FILENAME = 255
const EXPECTED = { file: 'file', maxBytes: MAX_FILE_BYTES }

export type NewFile = { fields: Static<typeof FileFields>; file: UploadedFile }
export type FileChange = { fields: Static<typeof FileUpdateFields>; file: UploadedFile | null }

const checkNew = bodyValidator(FileFields)
const checkChange = bodyValidator(FileUpdateFields)

/**
 * Reads a multipart upload: text fields, and a file under `file`, whose type is that of its content. Throws
 * VALIDATION_INVALID_BODY, VALIDATION_BODY_TOO_LARGE and SOURCE_UNSUPPORTED_TYPE.
 */
export async function readNewFile(request: FastifyRequest): Promise<NewFile> {
  const { fields, file, problems } = await readMultipart(request, EXPECTED)
  refuseInvalid({ ...checkNew(fields), ...(file ? {} : { file: 'This field is required.' }), ...problems })
  return { fields: fields as NewFile['fields'], file: await checked(file as Upload) }
}

/** The same where the file stays when none is sent. */
export async function readFileChange(request: FastifyRequest): Promise<FileChange> {
  const { fields, file, problems } = await readMultipart(request, EXPECTED)
  refuseInvalid({ ...checkChange(fields), ...problems })
  return { fields, file: file ? await checked(file) : null }
}

async function checked({ filename, bytes }: Upload): Promise<UploadedFile> {
  if (bytes.length === 0) refuseInvalid({ file: 'The file is empty.' })
  if (filename.length > LONGEST_FILENAME)
    refuseInvalid({ file: `The file name has more than ${LONGEST_FILENAME} characters.` })
  const type = await sniffType(bytes, filename)
  if (type) return { filename, type, bytes }
  throw new ApiError('SOURCE_UNSUPPORTED_TYPE', {
    message: `"${extname(filename) || filename}" cannot be used, or the content is of another type. Send a pdf, docx, doc, txt, md, html or csv file.`,
  })
}
