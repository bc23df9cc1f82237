import { extname } from 'node:path'
import type { DocumentType } from './extracted-document.ts'
import { isUtf16 } from './text/decode-text.ts'

const typeOfExtension: Record<string, DocumentType> = {
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.doc': 'doc',
  '.xlsx': 'xlsx',
  '.pptx': 'pptx',
  '.txt': 'txt',
  '.text': 'txt',
  '.md': 'md',
  '.markdown': 'md',
  '.html': 'html',
  '.htm': 'html',
  '.xhtml': 'html',
  '.csv': 'csv',
  '.png': 'image',
  '.jpg': 'image',
  '.jpeg': 'image',
  '.webp': 'image',
  '.tif': 'image',
  '.tiff': 'image',
}

/** The folder that the archive of an office file contains. */
const MAIN_PARTS = { docx: 'word/document', xlsx: 'xl/workbook', pptx: 'ppt/presentation' }

/** Returns the type that the extension of a file name stands for, or null if it is not supported. */
export const typeOfName = (filename: string): DocumentType | null =>
  typeOfExtension[extname(filename).toLowerCase()] ?? null

/**
 * Returns the type of a file's extension if its content matches; otherwise null. PDF, office and image files must have
 * their signature; text types must be text and no page description format. HTML in a .txt or .md file is accepted as text;
 * HTML in a .csv file is refused, because it is nearly always a saved sign-in page.
 */
export function sniffType(bytes: Uint8Array, filename: string): DocumentType | null {
  const type = typeOfName(filename)
  if (!type || bytes.length === 0) return null
  const agrees =
    type === 'pdf'
      ? startOf(bytes, 1024).includes('%PDF-')
      : type === 'docx' || type === 'xlsx' || type === 'pptx'
        ? isOfficeArchive(bytes, MAIN_PARTS[type])
        : type === 'doc'
          ? isLegacyWord(bytes)
          : type === 'image'
            ? isImage(bytes)
            : isText(bytes, type)
  return agrees ? type : null
}

/** Returns whether this is an Office document that only opens with a password. */
export function isLockedOffice(bytes: Uint8Array): boolean {
  return isOle(bytes) && bufferOf(bytes).includes(Buffer.from('EncryptedPackage', 'utf16le'))
}

// Whether the archive is valid is checked when it is read. A locked one is an OLE file.
function isOfficeArchive(bytes: Uint8Array, part: string): boolean {
  const file = bufferOf(bytes)
  return file.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1')) && file.includes(part)
}

function isLegacyWord(bytes: Uint8Array): boolean {
  return isOle(bytes) && bufferOf(bytes).includes(Buffer.from('WordDocument', 'utf16le'))
}

/** The beginnings of PNG, JPEG, WebP and TIFF files, which text recognition can read. */
const isImage = (bytes: Uint8Array): boolean =>
  /^(?:\x89PNG\r\n|\xff\xd8\xff|RIFF[\s\S]{4}WEBP|II\*\0|MM\0\*)/.test(startOf(bytes, 16))

/** Returns whether this is a container of files in the format of older office programs. */
export const isOle = (bytes: Uint8Array): boolean =>
  bufferOf(bytes).subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'))

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

function isText(bytes: Uint8Array, type: DocumentType): boolean {
  const start = startOf(bytes, 1024)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (/^(%PDF-|%!PS|\{\\rtf)/.test(start)) return false
  if (type === 'csv' && /^<(!doctype|html|head|\?xml)/i.test(start)) return false
  return isUtf16(bytes) || !hasBinary(bytes)
}

// Exported text may contain a few control characters, but no zero byte and not more than one in a thousand.
function hasBinary(bytes: Uint8Array): boolean {
  let strays = 0
  // An iterator over the bytes would take ten times as long, on the thread that serves everybody.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === 0) return true
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) strays += 1
  }
  return strays > bytes.length / 1000
}

function startOf(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString('latin1')
}
