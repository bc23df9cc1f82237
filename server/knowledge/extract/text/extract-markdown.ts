import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { headingLabel } from '../html/heading-label.ts'
import { BOLD_LEVEL, FEWEST_BOLD_TITLES, type Heading, pathOf, withHeading } from '../html/heading-path.ts'
import { tableRows } from '../table-rows.ts'
import { DENSE_ITEM, isBreakEmpty } from './dense-lines.ts'
import { inlineMarkdown, inlineText, isDefinition, linksOf } from './markdown-inline.ts'

// In a list, a fence is indented like its item.
const fence = /^(\s*)(`{3,}|~{3,})\s*([\w+#-]{0,30})[^`]*$/
const atxHeading = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/
/**
 * Matches a directive without a label, such as `::example{id=1}`, which stands for content that is generated with the
 * page.
 */
const directive = /^\s*::[a-z][\w-]*\{[^{}]*\}\s*$/i
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/
/** Matches the notations for notes and warnings: `> [!NOTE]`, `!!! note "Title"`, `:::note Title`. */
const admonition =
  /^\s*(?:>\s*\[!([a-z]+)\]|(?:!!!|\?\?\?\+?)\s+([a-z]+)(?:\s+"([^"]*)")?|:::+\s*\{?([a-z]+)\}?(?:\s+(.*))?)\s*$/i
const tableRule = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/

/** A line in bold that does not end like a sentence. */
const boldTitle = /^ {0,3}(\*\*|__)(?![\s*_])[^*_]{1,79}(?<![\s.!,;。！，；])\1\s*[:：]?\s*$/u

const isBoldTitle = (line: string): boolean => line.length <= LONGEST_TITLE && boldTitle.test(line)
const LONGEST_TITLE = 120

/**
 * Splits Markdown into sections by heading. Of the syntax, only code, bold text and links that lead somewhere are kept;
 * `url` is the address of the document. Throws ExtractFailure `no_text`.
 */
export function extractMarkdown(source: string, url: string | null = null): ExtractedDocument {
  const { title, body } = frontMatter(source)
  const lines = withoutComments(body).split('\n')
  const links = linksOf(lines, url)
  const shown = (text: string): string => inlineMarkdown(text, links)
  const hasBoldTitles = lines.filter(isBoldTitle).length >= FEWEST_BOLD_TITLES
  const sections: Section[] = []
  let open: Heading[] = []
  let paragraphs: string[] = []
  let prose: string[] = []
  let label: string | null = null

  const endParagraph = () => {
    // Emphasis may begin on one source line and end on another.
    const text = prose.map(shown).filter(Boolean).join('\n')
    prose = []
    if (text === '') return
    paragraphs.push(label === null ? text : listItem.test(text) ? `${label}:\n${text}` : `${label}: ${text}`)
    label = null
  }
  const endLabel = () => {
    endParagraph()
    if (label !== null) paragraphs.push(`${label}:`)
    label = null
  }
  const startSection = (level: number, text: string) => {
    const found = level === 1 ? null : headingLabel(text)
    endLabel()
    if (found !== null) {
      label = found
      return
    }
    sections.push({ headingPath: pathOf(open), page: null, text: paragraphs.join('\n\n') })
    paragraphs = []
    open = withHeading(open, level, text)
  }

  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    const next = lines[at + 1] ?? ''
    const [, indent = '', opening, language = ''] = fence.exec(line) ?? []
    const note = admonition.exec(line)
    const heading = atxHeading.exec(line)
    if (opening) {
      endLabel()
      let close = at + 1
      while (close < lines.length && !isClosing(lines[close]!, opening)) close += 1
      const code = lines.slice(at + 1, close).filter((codeLine) => codeLine.trim())
      const outdented = code.map((codeLine) =>
        codeLine.startsWith(indent) ? codeLine.slice(indent.length) : codeLine,
      )
      if (code.length > 0) paragraphs.push([`\`\`\`${language}`, ...outdented, '```'].join('\n'))
      at = close
    } else if (note) {
      endLabel()
      const word = note[1] ?? note[2] ?? note[4] ?? ''
      label = note[3] || note[5] || word[0]!.toUpperCase() + word.slice(1).toLowerCase()
    } else if (/^\s*:::+\s*$/.test(line) || directive.test(line) || isDefinition(line)) endParagraph()
    else if (heading) {
      const text = inlineText(heading[2] ?? '')
      if (text) startSection(heading[1]!.length, text)
    } else if (
      line.trim() &&
      /^ {0,3}(=+|-{2,})\s*$/.test(next) &&
      !line.includes('|') &&
      !listItem.test(line)
    ) {
      const level = next.trim().startsWith('=') ? 1 : 2
      const text = inlineText([...prose, line].join(' '))
      prose = []
      startSection(level, text)
      at += 1
    } else if (line.includes('|') && next.includes('-') && tableRule.test(next)) {
      endLabel()
      let end = at + 2
      while (end < lines.length && lines[end]!.includes('|')) end += 1
      const rows = [line, ...lines.slice(at + 2, end)].map((row) => cellsOf(row, shown))
      paragraphs.push(tableRows(rows, rows.length > 1 ? 1 : 0).join('\n'))
      at = end - 1
    } else if (hasBoldTitles && prose.length === 0 && isBoldTitle(line)) {
      startSection(BOLD_LEVEL, inlineText(line).replace(/\s*[:：]$/u, ''))
    } else if (line.trim() === '' || /^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) endParagraph()
    else addLine(prose, line)
  }
  endLabel()
  startSection(1, '')
  const document = finishDocument(title ?? firstTopHeading(sections), sections)
  if (document.sections.length === 0) throw new ExtractFailure('no_text', 'This file contains no text.')
  return document
}

// The source lines of a paragraph or list item become one line; each item begins a new one.
function addLine(prose: string[], line: string): void {
  const bare = line.replace(/^\s*(>\s?)+/, '')
  const marker = listItem.exec(bare)?.[0]
  const text = (marker ? bare.slice(marker.length) : bare).trim()
  if (marker) {
    const number = /\d+[.)]/.exec(marker)?.[0]
    if (text) prose.push(`${number ?? '-'} ${text}`)
  } else if (prose.length > 0 && !DENSE_ITEM.test(text))
    prose[prose.length - 1] += isBreakEmpty(prose.at(-1)!, text) ? text : ` ${text}`
  else if (text) prose.push(text)
}

function isClosing(line: string, opening: string): boolean {
  const marks = line.trim()
  return marks.length >= opening.length && marks === opening[0]!.repeat(marks.length)
}

function cellsOf(row: string, shown: (text: string) => string): string[] {
  const inner = row.trim().replace(/^\||(?<!\\)\|$/g, '')
  return inner.split(/(?<!\\)\|/).map((cell) => shown(cell.replace(/\\\|/g, '|')))
}

function withoutComments(body: string): string {
  let text = ''
  let from = 0
  for (let start = body.indexOf('<!--'); start >= 0; start = body.indexOf('<!--', from)) {
    const end = body.indexOf('-->', start + 4)
    if (end < 0) break
    text += body.slice(from, start)
    from = end + 3
  }
  return text + body.slice(from)
}

function frontMatter(source: string): { title: string | null; body: string } {
  const found = /^---\n([\s\S]*?)\n(?:---|\.\.\.)\s*(?:\n|$)/.exec(source)
  if (!found) return { title: null, body: source }
  const title = /^title:\s*(.+)$/m
    .exec(found[1]!)?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return { title: title ?? null, body: source.slice(found[0].length) }
}

function firstTopHeading(sections: Section[]): string | null {
  return sections.find(({ headingPath }) => headingPath.length > 0)?.headingPath[0] ?? null
}
