/** The rules for which URLs belong to a source. */
export type Site = {
  /** The host without "www.", with the port. */
  host: string
  /** The path without a trailing slash; '' is the whole host. */
  path: string
}

const MAX_URL_LENGTH = 2_048
const fileName = /\/[^/]*\.[a-z0-9]{1,6}$/i
// Matches files that contain no text of a page.
const assets =
  /\.(jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|json|xml|rss|atom|map|woff2?|[ot]tf|eot|mp[34]|m4[av]|webm|og[agv]|wav|avi|mov|zip|t?gz|bz2|xz|rar|7z|tar|exe|dmg|pkg|deb|rpm|apk|msi|iso|bin|xlsx?|pptx?|od[tsp]|ics|vcf|eps|psd)$/i
// Parameters for statistics, which do not affect the content.
const tracking = /^(utm_\w+|gclid|gbraid|wbraid|fbclid|msclkid|dclid|yclid|mc_[ce]id|_ga|_gl|igshid)$/

/**
 * A crawl stays on the start URL's host (with or without "www.") and below its path: /docs and /docs/ mean /docs
 * and everything under it, /docs/index.html means the folder. A sitemap may name every page of its host.
 */
export function siteOf(start: URL, type: 'crawl' | 'sitemap'): Site {
  const path = fileName.test(start.pathname)
    ? start.pathname.slice(0, start.pathname.lastIndexOf('/'))
    : start.pathname.replace(/\/+$/, '')
  return { host: hostOf(start), path: type === 'sitemap' ? '' : path }
}

export function isInSite(site: Site, url: URL): boolean {
  return hostOf(url) === site.host && (url.pathname === site.path || url.pathname.startsWith(`${site.path}/`))
}

const hostOf = ({ hostname, port }: URL): string =>
  `${hostname.replace(/^www\./, '').replace(/\.$/, '')}:${port}`

/** Returns the normal form of a linked page's URL, or null when the link is not to a page. */
export function pageUrl(link: string, base?: string): URL | null {
  const url = URL.parse(link.trim(), base)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username || url.password)
    return null
  url.hash = ''
  for (const name of [...url.searchParams.keys()]) {
    if (tracking.test(name)) url.searchParams.delete(name)
  }
  return url.href.length <= MAX_URL_LENGTH && !assets.test(url.pathname) ? url : null
}
