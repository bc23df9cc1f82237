import WordExtractor from 'word-extractor'
import { ExtractFailure } from '../extract-failure.ts'
import type { ExtractedDocument } from '../extracted-document.ts'
import { extractText } from '../text/extract-text.ts'

/**
 * Extracts the text of a file of an old Word version, without headings. Throws ExtractFailure `broken` and `no_text`.
 */
export async function extractDoc(bytes: Uint8Array): Promise<ExtractedDocument> {
  let body: string
  try {
    body = (await new WordExtractor().extract(Buffer.from(bytes))).getBody()
  } catch (error) {
    throw new ExtractFailure(
      'broken',
      'This Word file cannot be read. Save it as .docx and upload that.',
      error,
    )
  }
  return extractText(body)
}
