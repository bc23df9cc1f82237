import type { DocumentInput, ExtractedDocument } from './extracted-document.ts'
import { declaredCharset, decodeText } from './text/decode-text.ts'

/**
 * A document's bytes → its text by heading and page. Heavy for large files: see createExtractor. Each parser is loaded
 * when first needed. Throws ExtractFailure.
 */
export async function extractDocument(input: DocumentInput): Promise<ExtractedDocument> {
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
    case 'html': {
      const html = decodeText(bytes, declaredCharset(input.contentType, bytes))
      return (await import('./html/extract-html.ts')).extractHtml(html, input.url)
    }
    case 'md':
      return (await import('./text/extract-markdown.ts')).extractMarkdown(
        decodeText(bytes, declaredCharset(input.contentType)),
      )
    case 'csv':
      return (await import('./text/extract-csv.ts')).extractCsv(
        decodeText(bytes, declaredCharset(input.contentType)),
      )
    case 'txt':
      return (await import('./text/extract-text.ts')).extractText(
        decodeText(bytes, declaredCharset(input.contentType)),
      )
  }
}
