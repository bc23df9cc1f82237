/** One visual line. `size` is the font height in points; `y` grows upwards; `right` is where its text ends. */
export type PdfLine = { text: string; size: number; x: number; y: number; right: number }

export type PdfItem = { str: string; transform: number[]; width: number; height: number; hasEOL: boolean }

/** A page's text items, in the order of its content stream → lines. */
export function linesOf(items: PdfItem[]): PdfLine[] {
  const lines: PdfLine[] = []
  let line: PdfLine | null = null
  let longest = 0
  for (const item of items) {
    const [, , skew = 0, scale = 0, x = 0, y = 0] = item.transform
    const size = item.height || Math.hypot(skew, scale)
    const text = item.str.replace(/\s+/g, ' ')
    if (text !== '') {
      if (line && Math.abs(line.y - y) > Math.max(line.size, size) * 0.6) {
        lines.push(line)
        line = null
      }
      if (line) {
        if (x - line.right > size * 0.25 && !/\s$/.test(line.text) && !text.startsWith(' ')) line.text += ' '
        line.text += text
        line.right = x + item.width
        // The line's size is that of its longest run, not of a footnote mark.
        if (text.trim().length > longest) line.size = size
        longest = Math.max(longest, text.trim().length)
      } else {
        line = { text, size, x, y, right: x + item.width }
        longest = text.trim().length
      }
    }
    if (item.hasEOL && line) {
      lines.push(line)
      line = null
    }
  }
  if (line) lines.push(line)
  return lines
    .map((one) => ({ ...one, text: one.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => text !== '')
}

/** The font height that carries most characters: body text. */
export function bodySizeOf(pages: PdfLine[][]): number {
  const characters = new Map<number, number>()
  for (const { size, text } of pages.flat()) {
    const rounded = Math.round(size * 2) / 2
    characters.set(rounded, (characters.get(rounded) ?? 0) + text.length)
  }
  return [...characters].reduce((best, entry) => (entry[1] > best[1] ? entry : best), [0, 0])[0]
}

const pageNumber =
  /^(?:[-–—]\s*)?(?:(?:page|seite|pagina|página|s\.|p\.)\s*)?\d{1,5}(?:\s*(?:\/|of|von|de|sur|di)\s*\d{1,5})?(?:\s*[-–—])?$/i

/** Takes page numbers and running titles out of the first and last line of each page; a running title stays once. */
export function dropRunningLines(pages: PdfLine[][]): PdfLine[][] {
  const counts = new Map<string, number>()
  for (const page of pages) {
    for (const text of new Set([page.at(0)?.text, page.at(-1)?.text])) {
      if (text !== undefined) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
  }
  const seen = new Set<string>()
  const isRunning = (text: string): boolean => {
    if (pageNumber.test(text)) return pages.length > 1
    if (pages.length < 4 || (counts.get(text) ?? 0) < pages.length * 0.5) return false
    if (seen.has(text)) return true
    seen.add(text)
    return false
  }
  return pages.map((page) =>
    page.filter(({ text }, at) => !((at === 0 || at === page.length - 1) && isRunning(text))),
  )
}
