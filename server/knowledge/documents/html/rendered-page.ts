import type { FetchedPage } from '../../../platform/fetch/read/read-page.ts'
import type { Renderer } from '../../../platform/fetch/render/renderer.ts'
import { isWrittenByScript } from '../../../platform/fetch/render/written-by-script.ts'
import type { DocumentInput, DocumentType } from '../extracted-document.ts'
import { declaredCharset, decodeText } from '../text/decode-text.ts'

// Decoding more would hold up other work, and a page of text is smaller.
const MAX_BYTES = 5 * 1_048_576

/** The account on whose behalf a page is read, and the signal that cancels it. */
type PageRequest = { owner: string; signal: AbortSignal }

/**
 * Returns the HTML that a page's scripts produce, if the page needs them and there is a browser; otherwise null. Throws
 * FetchFailure.
 */
export async function renderedPage(
  renderer: Renderer | null | undefined,
  html: string,
  url: string,
  asked: PageRequest,
): Promise<string | null> {
  return renderer && isWrittenByScript(html) ? renderer.render({ url, html }, asked) : null
}

/** Returns a page for the extractor as the server sent it. */
export const inputOf = ({ body, url, headers }: FetchedPage, type: DocumentType) =>
  ({ bytes: body, type, url, contentType: headers['content-type'] }) satisfies DocumentInput

/** Returns a page for the extractor as its scripts have built it. */
export const renderedInput = (html: string, url: string): DocumentInput => ({
  bytes: Buffer.from(html),
  type: 'html',
  url,
  contentType: 'text/html; charset=utf-8',
})

/**
 * Returns a single page for the extractor, after running its scripts if necessary; `isRendered` tells whether that was
 * done.
 */
export async function linkedInput(
  renderer: Renderer | null | undefined,
  page: FetchedPage,
  type: DocumentType,
  asked: PageRequest,
): Promise<{ input: DocumentInput; isRendered: boolean }> {
  const input = inputOf(page, type)
  if (!renderer || type !== 'html' || page.body.length > MAX_BYTES) return { input, isRendered: false }
  const html = decodeText(page.body, declaredCharset(input.contentType, page.body))
  const built = await renderedPage(renderer, html, page.url, asked)
  return built === null
    ? { input, isRendered: false }
    : { input: renderedInput(built, page.url), isRendered: true }
}
