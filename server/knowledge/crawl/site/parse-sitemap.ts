import { decodeEntities } from '../pages/scan-tags.ts'

export type SitemapEntries = {
  kind: 'pages' | 'sitemaps'
  urls: string[]
}

/**
 * Parses a sitemap. A text file has a URL on each line; anything else must be a urlset or a sitemapindex. Returns
 * null for other content.
 */
export function parseSitemap(text: string, most: number): SitemapEntries | null {
  const start = text.trimStart()
  if (/^https?:\/\//i.test(start)) {
    const lines = start.split(/\s*\n\s*/, most)
    return { kind: 'pages', urls: lines.map((line) => line.trim()).filter((line) => line !== '') }
  }
  const root = /<((?:[\w-]+:)?)(urlset|sitemapindex)[\s>]/.exec(start.slice(0, 20_000))
  if (!root) return null
  const urls = locations(start, `${root[1]}loc`, most)
  return { kind: root[2] === 'urlset' ? 'pages' : 'sitemaps', urls }
}

/**
 * Returns the texts of the elements with this name. The URLs of images and videos are in elements with another
 * prefix.
 */
function locations(xml: string, name: string, most: number): string[] {
  const found: string[] = []
  const [open, close] = [`<${name}`, `</${name}`]
  for (let at = xml.indexOf('<'); at !== -1 && found.length < most; at = xml.indexOf('<', at + 1)) {
    if (xml.startsWith('<!--', at)) {
      at = xml.indexOf('-->', at + 4)
      if (at === -1) break
      continue
    }
    if (!xml.startsWith(open, at) || !/[\s>]/.test(xml[at + open.length] ?? '')) continue
    const from = xml.indexOf('>', at) + 1
    const to = from === 0 ? -1 : xml.indexOf(close, from)
    if (to === -1) break
    found.push(textOf(xml.slice(from, to)))
    at = to
  }
  return found
}

function textOf(content: string): string {
  const literal = /^\s*<!\[CDATA\[([\s\S]*)\]\]>\s*$/.exec(content)?.[1]
  return literal?.trim() ?? decodeEntities(content.trim())
}
