import { type Chunk, type ChunkOptions, chunkSections } from './chunk/chunk-sections.ts'
import { ExtractFailure, type ExtractFailureCode, TOO_MUCH_MEMORY } from './extract-failure.ts'
import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'
import { gapCounter } from './gaps.ts'
import type { Room } from './office/embedded-files.ts'
import { charsetOf, declaredCharset, decodeAs } from './text/decode-text.ts'

/**
 * Extracts the text of a document by heading and page. It takes long for large files; see createExtractor. Each
 * parser is loaded when it is first needed. Throws ExtractFailure.
 */
export async function extractDocument(input: DocumentInput, room?: Room): Promise<ExtractedDocument> {
  const document = await extractOne(input)
  if (!document.embedded?.files.length) return withoutEmbedded(document)
  const { roomForEmbedded, withEmbedded } = await import('./office/embedded-files.ts')
  const left = room ?? roomForEmbedded()
  return withEmbedded(document, input.bytes, left, async (inner) => {
    left.depth -= 1
    try {
      return await extractDocument(inner, left)
    } finally {
      left.depth += 1
    }
  })
}

const withoutEmbedded = ({ embedded: _none, ...document }: ExtractedDocument): ExtractedDocument => document

async function extractOne(input: DocumentInput): Promise<ExtractedDocument> {
  const { bytes, type } = input
  switch (type) {
    case 'pdf':
      return (await import('./pdf/extract-pdf.ts')).extractPdf(new Uint8Array(bytes))
    case 'docx':
      return (await import('./office/extract-docx.ts')).extractDocx(bytes)
    case 'doc':
      return (await import('./office/extract-doc.ts')).extractDoc(bytes)
    case 'xlsx':
      return (await import('./office/extract-xlsx.ts')).extractXlsx(bytes)
    case 'pptx':
      return (await import('./office/extract-pptx.ts')).extractPptx(bytes)
    case 'image':
      throw new ExtractFailure(
        'no_text',
        'This is a picture. Ask your operator to switch on text recognition (OCR), and train it again.',
      )
    case 'html':
    case 'md':
    case 'csv':
    case 'txt':
      return extractFromText(input, type)
  }
}

async function extractFromText(
  { bytes, url, contentType, charset: chosen, wholePage, repeated }: DocumentInput,
  type: 'html' | 'md' | 'csv' | 'txt',
): Promise<ExtractedDocument> {
  const label = declaredCharset(contentType, type === 'html' ? bytes : undefined)
  const charset = chosen ?? charsetOf(bytes, label)
  const text = decodeAs(bytes, charset)
  const document = await (async () => {
    switch (type) {
      case 'html':
        return (await import('./html/extract-html.ts')).extractHtml(text, { url, wholePage, repeated })
      case 'md':
        return (await import('./text/extract-markdown.ts')).extractMarkdown(text, url)
      case 'csv':
        return (await import('./text/extract-csv.ts')).extractCsv(text)
      case 'txt':
        return (await import('./text/extract-text.ts')).extractText(text)
    }
  })()
  const missing = gapCounter()
  missing.add('letters', '', text.match(LOST)?.length ?? 0)
  return { ...document, charset, gaps: [...missing.gaps('line'), ...(document.gaps ?? [])] }
}

/** The replacement character, which a decoder writes for bytes that are invalid in the charset. */
const LOST = /\ufffd/g

/** If `chunking` is null, the result is the document with its sections. Otherwise its chunks follow instead of them. */
export type ExtractOrder = { input: DocumentInput; chunking: ChunkOptions | null }

export type ExtractPiece =
  | { document: ExtractedDocument }
  | { chunks: Chunk[] }
  | { failure: { code: ExtractFailureCode; message: string } }

// The receiving process unpacks a piece without a pause.
const CHUNKS_AT_ONCE = 1_000

/** Runs in a child process; see createExtractor. */
export async function* work({ input, chunking }: ExtractOrder): AsyncGenerator<ExtractPiece> {
  try {
    const document = await extractDocument(input)
    if (!chunking) return yield { document }
    const chunks = chunkSections(document.sections, chunking)
    yield { document: { ...document, sections: [] } }
    for (let at = 0; at < chunks.length; at += CHUNKS_AT_ONCE)
      yield { chunks: chunks.slice(at, at + CHUNKS_AT_ONCE) }
  } catch (error) {
    yield { failure: failureOf(error) }
  }
}

function failureOf(error: unknown): { code: ExtractFailureCode; message: string } {
  if (lacksMemory(error)) return { code: 'out_of_memory', message: TOO_MUCH_MEMORY }
  if (error instanceof ExtractFailure) return { code: error.code, message: error.message }
  return { code: 'broken', message: 'This file cannot be read. Save it again and retry.' }
}

/** Returns whether a parser failed for lack of memory, which may be named only in the cause of its error. */
function lacksMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return /allocation failed|failed to allocate|out of memory/i.test(error.message) || lacksMemory(error.cause)
}
