import { ExtractFailure } from './extract-failure.ts'
import { type ExtractedDocument, finishDocument } from './extracted-document.ts'

/** Plain text as one section; its paragraphs are left as they are. Throws ExtractFailure `no_text`. */
export function extractText(text: string): ExtractedDocument {
  const paragraphs = text.split(/\n[^\S\n]*\n+/).map(unwrap)
  const document = finishDocument(null, [{ headingPath: [], page: null, text: paragraphs.join('\n\n') }])
  if (document.sections.length === 0) throw new ExtractFailure('no_text', 'This file holds no text.')
  return document
}

// Lines broken by an editor at a fixed width are one prose line: all but the last are long, and of like length.
function unwrap(paragraph: string): string {
  const lines = paragraph.split('\n').map((line) => line.trimEnd())
  const full = lines.slice(0, -1)
  const longest = Math.max(...full.map((line) => line.length))
  const isWrapped =
    full.length > 0 &&
    longest >= 50 &&
    longest <= 120 &&
    full.every((line) => line.length > longest * 0.75) &&
    lines.every((line) => !/^\s|^[-*•\d]|[:;|]$/.test(line))
  return isWrapped ? lines.join(' ') : lines.join('\n')
}
