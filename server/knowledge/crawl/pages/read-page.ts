import { createHash } from 'node:crypto'
import type { Context } from '../../../context.ts'
import { FetchFailure } from '../../../platform/fetch/failures/fetch-failure.ts'
import { statusName } from '../../../platform/fetch/failures/status-name.ts'
import type { FetchedPage } from '../../../platform/fetch/read/read-page.ts'
import { ExtractFailure } from '../../documents/extract-failure.ts'
import { tooComplex } from '../../documents/html/html-shape.ts'
import { inputOf, renderedInput, renderedPage } from '../../documents/html/rendered-page.ts'
import { declaredCharset, decodeText } from '../../documents/text/decode-text.ts'
import { extractWithPictures } from '../../ocr/read-pictures.ts'
import { PAGE_TYPES } from '../../training/load-content.ts'
import type { CrawlRun } from '../run/crawl-run.ts'
import type { RobotsCache } from '../site/load-robots.ts'
import { repeatedOn } from '../site/repeated-blocks.ts'
import { isInSite, pageUrl } from '../site/site.ts'
import { sketchOf } from '../traps/sketch.ts'
import { pageLinks } from './page-links.ts'
import { excluded, failed, failedForNow, type PageOutcome, type Sent } from './page-outcome.ts'
import type { PageRow } from './page-row.ts'

/** The parts of a page's row that decide how it is read. */
type AskedPage = Pick<
  PageRow,
  'url' | 'number' | 'hidden' | 'status' | 'changed_in' | 'crawled_in' | 'etag' | 'last_modified'
>

type Deps = Pick<Context, 'fetcher' | 'renderer' | 'extractor' | 'ocr'>

/** A crawl reads many pages, so each gets less than a source of its own. */
const LIMITS = { maxBytes: 5 * 1_048_576, timeoutMs: 30_000, idleTimeoutMs: 15_000 }
/** The most pages of a file that are read from pictures, since each takes seconds and other crawls wait meanwhile. */
const MAX_SCANNED_PAGES = 3
const MAX_PAUSE_MS = 60_000
const MAX_TITLE_LENGTH = 300

/**
 * Reads one page of a site if robots.txt and the customer's rules allow it. If it is read ahead, what was sent is kept for
 * when it is read in its turn, with the text of its pictures.
 */
export async function readPage(
  { fetcher, extractor, renderer, ocr }: Deps,
  run: CrawlRun,
  page: AskedPage,
  robots: RobotsCache,
  signal: AbortSignal,
  limits = LIMITS,
  isAhead = false,
): Promise<PageOutcome> {
  // A page that was hidden by hand is not read, but its links count.
  if (page.hidden) return { kind: 'unchanged' }
  const url = new URL(page.url)
  const unwanted = run.rules.against(url)
  if (unwanted !== null) return excluded(unwanted)
  const rules = await robots(url)
  if (typeof rules === 'string') return failedForNow(rules)
  if (!rules.isAllowed(url)) return excluded("The site's robots.txt does not allow it to be read.")
  const sent = run.sent.get(page.url) ?? (await send({ fetcher, renderer }, run, page, signal, limits))
  if (isAhead) run.sent.set(page.url, sent)
  else run.sent.delete(page.url)
  return 'kind' in sent ? sent : contentOf({ extractor, ocr: isAhead ? null : ocr }, run, page, sent, signal)
}

async function send(
  { fetcher, renderer }: Pick<Deps, 'fetcher' | 'renderer'>,
  run: CrawlRun,
  page: AskedPage,
  signal: AbortSignal,
  limits: typeof LIMITS,
): Promise<Sent | PageOutcome> {
  const url = new URL(page.url)
  try {
    const answer = await fetcher.fetch(url, {
      headers: conditions(run, page),
      accept: Object.keys(PAGE_TYPES),
      ...limits,
      signal,
    })
    const other = unreadable(answer) ?? elsewhere(run, url, answer)
    if (other) return other
    const { bytes, type, contentType } = inputOf(answer, typeOf(answer))
    const html = type === 'html' ? decodeText(bytes, declaredCharset(contentType, bytes)) : ''
    const built = await renderedPage(renderer, html, answer.url, { owner: run.account.id, signal })
    return { answer, html: built ?? html, built }
  } catch (error) {
    if (error instanceof FetchFailure && error.code === 'wrong_type') return excluded(error.message)
    if (error instanceof FetchFailure)
      return error.isPassing ? failedForNow(error.message) : failed(error.message)
    throw error
  }
}

/**
 * Returns whether a page is the first of its site, possibly in one of several languages. Only these keep the contact
 * data of the site's footer, which is the same on every page. The first address may only redirect to the second.
 */
const isEntrance = ({ number, url }: AskedPage): boolean =>
  number <= 2 || /^\/(?:[a-z]{2}(?:[-_][a-z]{2,4})?\/?)?$/i.test(new URL(url).pathname)

/** A conditional request makes sense only for a page whose text is stored as it would be stored now. */
function conditions(
  { blocks }: CrawlRun,
  { status, changed_in, crawled_in, etag, last_modified }: AskedPage,
): Record<string, string> {
  if (status !== 'included' || changed_in === 0 || crawled_in < (blocks?.since ?? 0)) return {}
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(last_modified === null ? {} : { 'if-modified-since': last_modified }),
  }
}

function unreadable({ status, headers }: FetchedPage): PageOutcome | null {
  if (status === 304) return { kind: 'unchanged' }
  if (status >= 200 && status < 300) return null
  const reason = `The page answered with ${statusName(status)}.`
  const isPassing = status === 408 || status === 425 || status === 429 || status >= 500
  return isPassing ? failedForNow(reason, pauseOf(headers['retry-after'])) : failed(reason)
}

function pauseOf(retryAfter: string | undefined): number {
  const seconds = Number(retryAfter ?? 0)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(retryAfter ?? '') - Date.now()
  return Math.min(Math.max(ms || 0, 0), MAX_PAUSE_MS)
}

/** The target of a redirect within the site is a page of its own. Other redirects are not followed. */
function elsewhere(run: CrawlRun, asked: URL, answer: FetchedPage): PageOutcome | null {
  if (answer.redirects.length === 0) return null
  const target = pageUrl(answer.url)
  if (target?.href === asked.href) return null
  if (target && isInSite(run.site, target)) return excluded(`It redirects to ${target.href}.`, target)
  return excluded(`It redirects to ${new URL(answer.url).origin}, which is outside of this website.`)
}

const typeOf = ({ contentType }: FetchedPage) => PAGE_TYPES[contentType ?? 'text/html'] ?? 'html'

async function contentOf(
  readers: { extractor: Deps['extractor']; ocr: Deps['ocr'] | null },
  run: CrawlRun,
  page: AskedPage,
  { answer, html, built }: Sent,
  signal: AbortSignal,
): Promise<PageOutcome> {
  const asked = { owner: run.account.id, signal }
  const { links, canonical } = await pageLinks(html, answer.url)
  if (canonical && canonical.href !== pageUrl(answer.url)?.href && isInSite(run.site, canonical))
    return excluded(`It says that its address is ${canonical.href}.`, canonical, links)
  const complaint = tooComplex(html)
  if (complaint !== null) return failed(complaint, links)
  try {
    const input = built === null ? inputOf(answer, typeOf(answer)) : renderedInput(built, answer.url)
    const {
      title,
      chunks: all,
      bytes,
      gaps = [],
      blocks = [],
    } = await extractWithPictures(
      readers,
      { ...input, wholePage: run.wholePage, repeated: run.blocks ? repeatedOn(page.url, run.blocks) : [] },
      asked,
      async () => {},
      MAX_SCANNED_PAGES,
    )
    const chunks = isEntrance(page) ? all : all.filter(({ isContact }) => !isContact)
    if (chunks.length === 0) return failed('The page contains no text.', links)
    const loaded = chunks.map((chunk) => ({ ...chunk, questions: null }))
    const name = (title ?? chunks[0]?.headingPath[0] ?? answer.url).slice(0, MAX_TITLE_LENGTH)
    const texts = loaded.map(({ headingPath, page, text, anchor }) => [headingPath, page, text, anchor])
    const said = loaded.map(({ headingPath, text }) => [...headingPath, text].join('\n'))
    const hash = createHash('sha256')
      .update(JSON.stringify([name, texts]))
      .digest('base64url')
    // Content produced by scripts may change while the page itself stays the same.
    const { etag = null, 'last-modified': lastModified = null } = built === null ? answer.headers : {}
    return {
      kind: 'content',
      content: {
        title: name,
        chunks: loaded,
        bytes,
        hash,
        gaps,
        blocks,
        sketch: sketchOf(said),
        etag,
        lastModified,
      },
      links,
    }
  } catch (error) {
    if (!(error instanceof ExtractFailure)) throw error
    if (error.code === 'aborted' || error.code === 'crashed') return failedForNow(error.message)
    const isBlank = error.code === 'no_text' && built !== null
    return failed(
      isBlank ? 'This page contains no text, even after its scripts have run.' : error.message,
      links,
    )
  }
}
