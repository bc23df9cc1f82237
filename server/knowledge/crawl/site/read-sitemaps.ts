import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../../context.ts'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { tooLarge } from '../../../platform/fetch/read/read-body.ts'
import { decodeText } from '../../documents/text/decode-text.ts'
import { parseSitemap, type SitemapEntries } from './parse-sitemap.ts'

/** The most that is read of one file. The limits of the protocol (sitemaps.org) are 50 MB and 50,000 URLs. */
const MAX_BYTES = 20 * 1_048_576
const MAX_URLS = 50_000
const MAX_SITEMAPS = 200
const TIMEOUT_MS = 60_000

/** The reason why a sitemap has no pages. `message` is for the customer. */
export class SitemapFailure extends Error {
  override name = 'SitemapFailure'
}

type SitemapPart = { urls: string[] } | { failed: string }

/**
 * Yields the URLs of a sitemap, a file at a time. The files of an index are followed, one level deep. A file of an
 * index that cannot be read is reported and skipped. Throws SitemapFailure when the first file cannot be read.
 */
export async function* readSitemaps(
  { fetcher }: Pick<Context, 'fetcher'>,
  start: string,
  signal: AbortSignal,
): AsyncGenerator<SitemapPart> {
  const first = await read(fetcher, start, signal)
  if (first.kind === 'pages') {
    yield { urls: first.urls }
    return
  }
  for (const part of new Set(first.urls.slice(0, MAX_SITEMAPS))) {
    try {
      const { kind, urls } = await read(fetcher, new URL(part, start).href, signal)
      yield kind === 'pages' ? { urls } : { failed: `${part} is an index inside an index.` }
    } catch (error) {
      if (!(error instanceof SitemapFailure) && !(error instanceof TypeError)) throw error
      yield { failed: `${part}: ${error.message}` }
    }
  }
}

async function read(fetcher: Context['fetcher'], url: string, signal: AbortSignal): Promise<SitemapEntries> {
  try {
    const page = await fetcher.fetch(url, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal })
    if (page.status < 200 || page.status >= 300)
      throw new SitemapFailure(`The sitemap answered with HTTP ${page.status}.`)
    const text = decodeText(await unpacked(page.body), page.charset)
    const entries = parseSitemap(text, MAX_URLS)
    if (!entries)
      throw new SitemapFailure('This is not a sitemap: it contains neither a urlset nor an index.')
    return entries
  } catch (error) {
    if (error instanceof FetchFailure) throw new SitemapFailure(error.message, { cause: error })
    throw error
  }
}

/** Sitemaps are often .gz files, which is independent of the encoding of the response. */
async function unpacked(body: Uint8Array): Promise<Uint8Array> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body
  try {
    return await promisify(gunzip)(body, { maxOutputLength: MAX_BYTES })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(MAX_BYTES)
    throw new SitemapFailure('The sitemap is a damaged .gz file.')
  }
}
