import { createYielder } from '../../../platform/concurrency/yield-to-event-loop.ts'
import { pageUrl } from '../site/site.ts'
import { scanTags } from './scan-tags.ts'

/** Distinct absolute URLs in the order of the page. */
type PageLinks = { links: URL[]; canonical: URL | null }

// The most links that are read. A page with more is not meant for people.
const MAX_LINKS = 2_000

/** Returns the links of an HTML page and its canonical URL. */
export async function pageLinks(html: string, url: string): Promise<PageLinks> {
  const breathe = createYielder()
  const links = new Map<string, URL>()
  let base = url
  let canonical: URL | null = null
  for (const { name, attributes } of scanTags(html)) {
    await breathe()
    const href = attributes.get('href')
    if (name === 'base' && href && base === url) base = URL.parse(href, url)?.href ?? url
    else if ((name === 'a' || name === 'area') && href) add(links, pageUrl(href, base))
    else if (name === 'link' && href && isCanonical(attributes.get('rel'))) canonical ??= pageUrl(href, base)
    else if (name === 'meta') add(links, refreshTarget(attributes, base))
    if (links.size >= MAX_LINKS) break
  }
  return { links: [...links.values()], canonical }
}

function add(links: Map<string, URL>, url: URL | null): void {
  if (url) links.set(url.href, url)
}

const isCanonical = (rel: string | undefined): boolean =>
  (rel ?? '').toLowerCase().split(/\s+/).includes('canonical')

/** Redirects within the page: `<meta http-equiv="refresh" content="0; url=…">`. */
function refreshTarget(attributes: Map<string, string>, base: string): URL | null {
  if (attributes.get('http-equiv')?.toLowerCase() !== 'refresh') return null
  const target = /^[\d.\s]*[;,]\s*(?:url\s*=)?\s*["']?([^"']+)/i.exec(attributes.get('content') ?? '')?.[1]
  return target ? pageUrl(target, base) : null
}
