import { endOfRawText } from '../../../platform/text/html/end-of-raw-text.ts'

type Tag = {
  /** In lower case. */
  name: string
  attributes: Map<string, string>
}

const tagName = /[a-z][^\s/>]*/iy
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y
// The elements whose content is text, even if it looks like tags.
const rawText = new Set(['script', 'style', 'textarea', 'title', 'noembed', 'xmp'])

/** Yields the start tags of an HTML page in linear time. */
export function* scanTags(html: string): Generator<Tag> {
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at)) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 4)
      if (end === -1) return
      at = end + 3
      continue
    }
    tagName.lastIndex = at + 1
    const name = tagName.exec(html)?.[0].toLowerCase()
    if (!name) {
      at += 1
      continue
    }
    const attributes = new Map<string, string>()
    at = tagName.lastIndex
    for (;;) {
      attribute.lastIndex = at
      const found = attribute.exec(html)
      if (!found) break
      const [, key = '', double, single, bare] = found
      // The page ends within a value.
      if (bare?.startsWith('"') || bare?.startsWith("'")) return
      const known = key.toLowerCase()
      if (!attributes.has(known)) attributes.set(known, decodeEntities(double ?? single ?? bare ?? ''))
      at = attribute.lastIndex
    }
    yield { name, attributes }
    if (rawText.has(name)) at = endOfRawText(html, name, at)
  }
}

const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' }

/** Replaces the character references that occur in URLs. Unknown ones are kept. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name) return named[name.toLowerCase()] ?? whole
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
