import { extname } from 'node:path'
import { fileTypeFromBuffer } from 'file-type'
import { charsetOf } from './decode-text.ts'
import type { DocumentType } from './extracted-document.ts'

const typeOfExtension: Record<string, DocumentType> = {
  '.pdf': 'pdf',
  '.docx': 'docx',
  '.doc': 'doc',
  '.txt': 'txt',
  '.text': 'txt',
  '.md': 'md',
  '.markdown': 'md',
  '.html': 'html',
  '.htm': 'html',
  '.xhtml': 'html',
  '.csv': 'csv',
}

/**
 * The type a file's extension says, if its content agrees; null otherwise. PDF and Word files must carry their
 * signature; text types must be text and none of the page description formats. HTML named .txt or .md is taken as
 * the text it is; HTML named .csv is refused, since it is nearly always a saved sign-in page.
 */
export async function sniffType(bytes: Uint8Array, filename: string): Promise<DocumentType | null> {
  const type = typeOfExtension[extname(filename).toLowerCase()]
  if (!type || bytes.length === 0) return null
  const agrees =
    type === 'pdf'
      ? startOf(bytes, 1024).includes('%PDF-')
      : type === 'docx'
        ? await isWordArchive(bytes)
        : type === 'doc'
          ? isLegacyWord(bytes)
          : isText(bytes, type)
  return agrees ? type : null
}

async function isWordArchive(bytes: Uint8Array): Promise<boolean> {
  const mime = (await fileTypeFromBuffer(bytes))?.mime
  if (mime?.endsWith('wordprocessingml.document')) return true
  // Writers that put the content types last leave only the archive recognisable. An encrypted .docx is an OLE file.
  return (
    mime === 'application/zip' &&
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes('word/document')
  )
}

function isLegacyWord(bytes: Uint8Array): boolean {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const isOle = file.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'))
  return isOle && file.includes(Buffer.from('WordDocument', 'utf16le'))
}

function isText(bytes: Uint8Array, type: DocumentType): boolean {
  const start = startOf(bytes, 1024)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart()
  if (/^(%PDF-|%!PS|\{\\rtf)/.test(start)) return false
  if (type === 'csv' && /^<(!doctype|html|head|\?xml)/i.test(start)) return false
  return charsetOf(bytes).startsWith('utf-16') || !hasBinary(bytes)
}

// Stray control characters happen in exported text; a zero byte, or more than one in a thousand, does not.
function hasBinary(bytes: Uint8Array): boolean {
  let strays = 0
  for (const byte of bytes) {
    if (byte === 0) return true
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) strays += 1
  }
  return strays > bytes.length / 1000
}

function startOf(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString('latin1')
}
