import { extname } from 'node:path'
import type { FastifyReply } from 'fastify'
import type { Static } from 'typebox'
import type { Form, Upload } from '../../platform/http/bodies/uploads.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { bodyValidator, nameIgnored, refuseInvalid } from '../../platform/http/input/validate.ts'
import type { DocumentType } from '../documents/extracted-document.ts'
import { isLockedOffice, sniffType, typeOfName } from '../documents/sniff-type.ts'
import { FileFields, FileUpdateFields } from './schema.ts'

type UploadedFile = { filename: string; type: DocumentType; path: string; size: number }

const MAX_FILENAME_LENGTH = 255

export type NewFile = { fields: Static<typeof FileFields>; file: UploadedFile }
export type FileChange = { fields: Static<typeof FileUpdateFields>; file: UploadedFile | null }

const checkNew = bodyValidator(FileFields)
const checkChange = bodyValidator(FileUpdateFields)

/**
 * Checks an upload: text fields, and a file under `file`, whose type is that of its content. Throws
 * VALIDATION_INVALID_BODY and SOURCE_UNSUPPORTED_TYPE.
 */
export async function readNewFile(
  { fields, file, strangers, problems }: Form,
  reply: FastifyReply,
): Promise<NewFile> {
  const wrong = checkNew(fields, strangers)
  nameIgnored(reply, strangers)
  refuseInvalid({ ...wrong, ...(file ? {} : { file: 'This field is required.' }), ...problems })
  return { fields: fields as NewFile['fields'], file: await checkFile(file as Upload) }
}

/** Checks a change of a source, whose file is kept when none is sent. */
export async function readFileChange(
  { fields, file, strangers, problems }: Form,
  reply: FastifyReply,
): Promise<FileChange> {
  const wrong = checkChange(fields, strangers)
  nameIgnored(reply, strangers)
  refuseInvalid({ ...wrong, ...problems })
  return { fields, file: file ? await checkFile(file) : null }
}

async function checkFile({ filename, path, size, whole }: Upload): Promise<UploadedFile> {
  if (size === 0) refuseInvalid({ file: 'The file is empty.' })
  if (filename.length > MAX_FILENAME_LENGTH)
    refuseInvalid({ file: `The file name has more than ${MAX_FILENAME_LENGTH} characters.` })
  const type = await whole((bytes) => sniffType(bytes, filename))
  if (type) return { filename, type, path, size }
  if (await whole(isLockedOffice))
    throw new ApiError('SOURCE_UNSUPPORTED_TYPE', {
      message: `"${filename}" is protected by a password. Remove it and upload again.`,
    })
  throw new ApiError('SOURCE_UNSUPPORTED_TYPE', { message: refusalOf(filename) })
}

const KINDS: Record<DocumentType, string> = {
  pdf: 'PDF',
  docx: 'Word document',
  doc: 'Word document',
  xlsx: 'Excel workbook',
  pptx: 'PowerPoint presentation',
  txt: 'text file',
  md: 'Markdown file',
  html: 'web page',
  csv: 'CSV file',
  image: 'picture',
}

function refusalOf(filename: string): string {
  const named = typeOfName(filename)
  if (named) return `"${filename}" is damaged, or its content is no ${KINDS[named]}.`
  const what = extname(filename) ? `${extname(filename).toLowerCase()} files` : 'Files without an extension'
  return `${what} cannot be used: send a pdf, docx, doc, xlsx, pptx, txt, md, html, csv, png, jpg, webp or tiff file.`
}
