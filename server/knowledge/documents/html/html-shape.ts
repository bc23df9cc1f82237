// Elements without an end tag, or whose end tag is usually omitted.
const unnested = new Set(
  (
    'area base br col embed hr img input link meta param source track wbr ' +
    'p li dt dd tr td th thead tbody tfoot option optgroup rt rp'
  ).split(' '),
)

const tag = /<(\/?)([a-z][a-z0-9-]*)/gi

// The time of parsers grows faster than linearly with these; readable pages stay far below them.
const DEEPEST = 200
const MAX_ELEMENTS = 50_000

/** Returns a sentence about why an HTML page would take too long to parse, or null. Takes linear time. */
export function tooComplex(html: string): string | null {
  let elements = 0
  let depth = 0
  for (const [, close, name = ''] of html.matchAll(tag)) {
    if (!close) elements += 1
    if (elements > MAX_ELEMENTS) return `The page has more than ${MAX_ELEMENTS} elements.`
    if (unnested.has(name.toLowerCase())) continue
    depth = close ? Math.max(0, depth - 1) : depth + 1
    if (depth > DEEPEST) return `The elements of the page are nested more than ${DEEPEST} levels deep.`
  }
  return null
}
