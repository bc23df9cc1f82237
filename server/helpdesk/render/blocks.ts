import { escapeHtml } from './escape-html.ts'
import { inline, type Links } from './inline.ts'
import { isTableHead, table } from './table.ts'

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^(\s{0,3})([-*+]|\d{1,9}[.)])(\s+|$)(.*)$/
const DEEPEST = 8

/** Lines of Markdown as HTML. Nesting beyond eight levels is text. */
export function blocks(lines: string[], links: Links, depth = 0): string {
  const html: string[] = []
  let paragraph: string[] = []
  const flush = (): void => {
    if (paragraph.length > 0) html.push(`<p>${lined(paragraph, links)}</p>`)
    paragraph = []
  }
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? ''
    const underline = paragraph.length > 0 && /^ {0,3}(=+|-+)\s*$/.exec(line)?.[1]
    if (underline) {
      const level = underline.startsWith('=') ? 1 : 2
      html.push(`<h${level}>${lined(paragraph, links)}</h${level}>`)
      paragraph = []
      at++
      continue
    }
    const block =
      line.trim() === '' ? { html: '', lines: 1 } : blockAt(lines, at, links, depth, paragraph.length > 0)
    if (block) {
      flush()
      if (block.html) html.push(block.html)
      at += block.lines
    } else {
      paragraph.push(line)
      at++
    }
  }
  flush()
  return html.join('\n')
}

type Block = { html: string; lines: number }

const lined = (lines: string[], links: Links): string =>
  inline(lines.map((line) => line.trim()).join('\n'), links)

function blockAt(
  lines: string[],
  at: number,
  links: Links,
  depth: number,
  inParagraph: boolean,
): Block | null {
  const line = lines[at] ?? ''
  const fence = FENCE.exec(line)
  if (fence) return fenced(lines, at, fence[1] ?? '', fence[2] ?? '')
  const heading = HEADING.exec(line)
  if (heading) {
    const level = heading[1]?.length ?? 1
    return { html: `<h${level}>${inline((heading[2] ?? '').trim(), links)}</h${level}>`, lines: 1 }
  }
  if (RULE.test(line)) return { html: '<hr>', lines: 1 }
  if (isTableHead(line, lines[at + 1])) return table(lines.slice(at), links)
  if (depth >= DEEPEST) return null
  if (QUOTE.test(line)) return quote(lines, at, links, depth)
  const item = ITEM.exec(line)
  // A year at the beginning of a line is no list inside of a paragraph.
  if (
    item &&
    !(inParagraph && (item[4]?.trim() === '' || /^\d/.test(item[2] ?? '')) && !/^1[.)]$/.test(item[2] ?? ''))
  ) {
    return list(lines, at, links, depth)
  }
  return null
}

function fenced(lines: string[], at: number, mark: string, language: string): Block {
  let end = at + 1
  const closes = new RegExp(`^ {0,3}${mark[0] === '~' ? '~' : '`'}{${mark.length},}\\s*$`)
  while (end < lines.length && !closes.test(lines[end] ?? '')) end++
  const named = language ? ` class="language-${escapeHtml(language)}"` : ''
  const code = lines.slice(at + 1, end).join('\n')
  return {
    html: code.trim() === '' ? '' : `<pre><code${named}>${escapeHtml(code)}\n</code></pre>`,
    lines: Math.min(end + 1, lines.length) - at,
  }
}

function quote(lines: string[], at: number, links: Links, depth: number): Block {
  let end = at
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end++
  const inner = blocks(
    lines.slice(at, end).map((line) => line.replace(QUOTE, '')),
    links,
    depth + 1,
  )
  return { html: inner ? `<blockquote>\n${inner}\n</blockquote>` : '', lines: end - at }
}

const kindOf = (mark: string): string => (/^\d/.test(mark) ? mark.slice(-1) : mark)

/** Items of one kind; what is indented as far as their words belongs to them. */
function list(lines: string[], start: number, links: Links, depth: number): Block {
  const first = ITEM.exec(lines[start] ?? '')?.[2] ?? '-'
  const items: string[][] = []
  let at = start
  let indent = 0
  let isLoose = false
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const item = ITEM.exec(line)
    const isInside = items.length > 0 && line.search(/\S/) >= indent
    if (line.trim() === '') {
      const next = lines[at + 1] ?? ''
      const goesOn = next.search(/\S/) >= indent || kindOf(ITEM.exec(next)?.[2] ?? '') === kindOf(first)
      if (!goesOn || next.trim() === '') break
      isLoose = true
      items.at(-1)?.push('')
    } else if (isInside) items.at(-1)?.push(line.slice(indent))
    else if (item && !RULE.test(line) && kindOf(item[2] ?? '') === kindOf(first)) {
      indent = (item[1]?.length ?? 0) + (item[2]?.length ?? 0) + 1
      items.push([item[4] ?? ''])
    } else if (items.length === 0 || item || lines[at - 1]?.trim() === '' || isOther(line)) break
    else items.at(-1)?.push(line.trim())
    at++
  }
  const ordered = /^\d/.test(first)
  const from = Number.parseInt(first, 10)
  const tag = ordered ? 'ol' : 'ul'
  const open = ordered && from !== 1 ? `<ol start="${from}">` : `<${tag}>`
  const html = items.map((item) => `<li>${itemOf(item, links, depth, isLoose)}</li>`).join('\n')
  return { html: `${open}\n${html}\n</${tag}>`, lines: Math.max(1, at - start) }
}

const isOther = (line: string): boolean =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)

function itemOf(lines: string[], links: Links, depth: number, isLoose: boolean): string {
  const box = /^\[([ xX])\]\s/.exec(lines[0] ?? '')
  const rest = box ? [(lines[0] ?? '').slice(4), ...lines.slice(1)] : lines
  const html = blocks(rest, links, depth + 1)
  const tight = isLoose ? html : html.replace(/^<p>([\s\S]*?)<\/p>/, '$1')
  return box ? `${box[1] === ' ' ? '☐' : '☑'} ${tight}` : tight
}
