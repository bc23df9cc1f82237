import { parseHTML } from 'linkedom'
import mammoth from 'mammoth'
import { ExtractFailure } from './extract-failure.ts'
import { type ExtractedDocument, finishDocument } from './extracted-document.ts'
import { htmlSections } from './html-sections.ts'
import { readZip } from './read-zip.ts'

// Text and images unpacked. A thousand pages of prose are about 10 MB.
const maxUnpackedBytes = 128 * 1_048_576

/** Headings, paragraphs, lists and tables of a Word file. Throws ExtractFailure `broken`, `too_large` or `no_text`. */
export async function extractDocx(bytes: Uint8Array): Promise<ExtractedDocument> {
  const parts = readZip(bytes, (name) => name === 'docProps/core.xml', maxUnpackedBytes)
  const { document } = parseHTML(`<!doctype html><html><body>${await toHtml(bytes)}</body></html>`)
  const extracted = finishDocument(titleOf(parts.get('docProps/core.xml')), htmlSections(document.body))
  if (extracted.sections.length === 0) throw new ExtractFailure('no_text', 'This Word file holds no text.')
  return { ...extracted, title: extracted.title ?? extracted.sections[0]!.headingPath[0] ?? null }
}

async function toHtml(bytes: Uint8Array): Promise<string> {
  try {
    const withoutImages = mammoth.images.imgElement(async () => ({ src: '' }))
    const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => p:fresh"]
    const { value } = await mammoth.convertToHtml(
      { buffer: Buffer.from(bytes) },
      { convertImage: withoutImages, externalFileAccess: false, styleMap },
    )
    return value
  } catch (error) {
    throw new ExtractFailure(
      'broken',
      'This Word file is damaged. Open it in a word processor, save it again and retry.',
      error,
    )
  }
}

function titleOf(core: Uint8Array | undefined): string | null {
  if (!core) return null
  const { document } = parseHTML(
    `<x>${Buffer.from(core)
      .toString('utf8')
      .replace(/<\?[^>]*\?>/g, '')}</x>`,
  )
  return (
    [...document.querySelectorAll('*')].find(({ tagName }) => /^dc:title$/i.test(tagName))?.textContent ??
    null
  )
}
