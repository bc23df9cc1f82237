import { codeAt } from './pdf-code.ts'
import { endsSentence, type PdfLine } from './pdf-lines.ts'
import { tableAt } from './pdf-tables.ts'

const bullet = /^(?:[•‣▪–—*-]|\(?\d{1,3}[.)]|[a-z]\))\s/

const LONGEST_WORD = 100

/** Joins lines to paragraphs of one line each, and joins words that were hyphenated at the end of a line. */
export function paragraphsOf(lines: PdfLine[], words: ReadonlySet<string>): string[] {
  const paragraphs: string[] = []
  const width = lines.reduce((most, { x, right }) => Math.max(most, right - x), 0)
  let before: PdfLine | null = null
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!
    const code = codeAt(lines, at)
    const table = code ? null : tableAt(lines, at)
    if (code) paragraphs.push(code.text)
    if (table) paragraphs.push(table.rows.join('\n'))
    const block = code ?? table
    if (block) {
      at += block.length - 1
      before = null
      continue
    }
    const last = paragraphs.at(-1)
    if (before && last !== undefined && continues(before, line, width)) {
      const glue = bullet.test(line.text) ? '\n' : null
      paragraphs[paragraphs.length - 1] = glue ? last + glue + line.text : join(last, line.text, words)
    } else paragraphs.push(line.text)
    before = line
  }
  return paragraphs
}

function continues(before: PdfLine, line: PdfLine, width: number): boolean {
  const gap = before.y - line.y
  if (gap < 0 || gap > Math.max(before.size, line.size) * 1.7) return false
  const isComplete = endsSentence(before)
  // A command on a line of its own is a paragraph of its own.
  if (before.isTyped !== line.isTyped && (isComplete || /^\p{Lu}/u.test(line.text))) return false
  const endsShort = before.right - before.x < width * 0.6 && isComplete
  return !endsShort || bullet.test(line.text)
}

function join(left: string, right: string, words: ReadonlySet<string>): string {
  if (left.endsWith('\u00ad')) return left.slice(0, -1) + right
  // Only the end of the paragraph is examined, because it grows with every line.
  const start = /[\p{L}\p{M}]+-$/u.exec(left.slice(-LONGEST_WORD))?.[0]
  const end = /^\p{Ll}[\p{L}\p{M}]*/u.exec(right)?.[0]
  if (start === undefined || end === undefined)
    return noSpaceBetween(left, right) ? left + right : `${left} ${right}`
  // As in "on- and offline", the hyphen stands for an omitted part of the word.
  if (/^(and|or|und|oder|bzw|bis|y|o|et|ou)$/.test(end)) return `${left} ${right}`
  if (words.has((start + end).toLowerCase())) return left + right
  return left.slice(0, -1) + right
}

// Chinese and Japanese have no space between lines.
function noSpaceBetween(left: string, right: string): boolean {
  const script = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}。、，！？：；「」（）]/u
  return (script.test(left.at(-1) ?? '') && script.test(right[0] ?? '')) || /\p{L}-$/u.test(left.slice(-3))
}

/** Returns every hyphenated word inside a line, in lower case, whose hyphen is therefore not a line break. */
export function hyphenatedWords(pages: PdfLine[][]): Set<string> {
  const words = new Set<string>()
  for (const { text } of pages.flat()) {
    for (const [word] of text.matchAll(/[\p{L}\p{M}]+-[\p{L}\p{M}]+/gu)) words.add(word.toLowerCase())
  }
  return words
}
