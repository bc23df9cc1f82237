import { ExtractFailure } from '../extract-failure.ts'
import { type ExtractedDocument, finishDocument, type Section } from '../extracted-document.ts'
import { type Heading, pathOf, withHeading } from '../html/heading-path.ts'
import { LIST_ITEM } from './dense-lines.ts'
import { unwrapLines } from './unwrap-lines.ts'

const RULE = /^\s*([=\-~_*#])\1{3,}\s*$/
const UNDERLINE = /^([=\-~])\1{2,}$/
const MAX_HEADING_LENGTH = 72

/**
 * Extracts plain text. Paragraphs with hard line breaks become one line. Titles become headings: underlined ones, and
 * short lines above text if there are several.
 */
export function extractText(text: string): ExtractedDocument {
  const sections: Section[] = []
  let open: Heading[] = []
  let paragraphs: string[] = []
  const endSection = (): void => {
    sections.push({ headingPath: pathOf(open), page: null, text: paragraphs.join('\n\n') })
    paragraphs = []
  }
  const blocks = text.split(/\n[^\S\n]*\n+/).flatMap((block) => splitAtTitles(block.split('\n')))
  const titles = blocks.map((lines, at) => titleOf(lines, blocks[at + 1]))
  const isTitled = titles.filter((title) => title !== null).length >= MIN_TITLES
  for (const [at, lines] of blocks.entries()) {
    const heading = headingOf(lines, blocks[at + 1]) ?? (isTitled ? titles[at] : null)
    const rest = heading ? lines.slice(heading.lines) : lines
    if (heading) {
      endSection()
      open = withHeading(open, heading.level, heading.text)
    }
    const body = rest.filter((line) => !RULE.test(line))
    if (body.length > 0) paragraphs.push(unwrapLines(body))
  }
  endSection()
  const document = finishDocument(null, sections)
  if (document.sections.length === 0) throw new ExtractFailure('no_text', 'This file contains no text.')
  return document
}

/** Splits a block of consecutive lines before each underlined title. */
function splitAtTitles(lines: string[]): string[][] {
  const starts = lines.flatMap((line, at) => (at > 0 && isUnderlined(line, lines[at + 1]) ? [at] : []))
  return [0, ...starts].map((from, i) => lines.slice(from, starts[i]))
}

/** The rule below the header of a table is interrupted between columns, or has another length. */
function isUnderlined(line: string, next: string | undefined): boolean {
  const [title, rule] = [line.trim(), next?.trim() ?? '']
  const isAsLong = Math.abs(rule.length - title.length) <= 2
  return isAsLong && title.length <= MAX_HEADING_LENGTH && UNDERLINE.test(rule) && /\p{L}/u.test(title)
}

/** With at least this many short lines above text, such lines are titles; a single one may be anything. */
const MIN_TITLES = 2
const MAX_TITLE_LENGTH = 60
const MAX_WORDS = 8
/** A line with this many characters, or one that ends like a sentence, is text. */
const FULL_LINE = 40
const ENDS_SENTENCE = /[.!?…。！？][)"”»』」]?$/u
const NUMBER = /^(\d{1,2}(?:\.\d{1,2})*)[.)]?\s+/
const NUMBERED = /^\d{1,2}(?:\.\d{1,2})*[.)]\s/

/** Returns the title that a block begins with: a short line above text that does not end like a sentence. */
function titleOf(lines: readonly string[], next: readonly string[] | undefined): Title | null {
  const text = (lines[0] ?? '').trim()
  const name = text.replace(NUMBER, '')
  const below = (lines[1] ?? next?.[0] ?? '').trim()
  const isName =
    text.length <= MAX_TITLE_LENGTH &&
    name.split(/\s+/).length <= MAX_WORDS &&
    /^[\p{Lu}\p{Lo}\p{Lt}]/u.test(name) &&
    /\p{L}.*\p{L}/u.test(name) &&
    !/[.,;:：；，。、!?…|=\t]|\s{2}/u.test(name) &&
    !/^[-–]/.test(text)
  const isText = (below.length >= FULL_LINE || ENDS_SENTENCE.test(below)) && !NUMBERED.test(below)
  if (!isName || !isText || LIST_ITEM.test(below)) return null
  const depth = NUMBER.exec(text)?.[1]?.split('.').length ?? 1
  return { text, level: TITLE_LEVEL + depth, lines: 1 }
}

/** Titles that are not underlined are below those that are, and those with a number like 2.1 below others. */
const TITLE_LEVEL = 2

type Title = { text: string; level: number; lines: number }

/** Returns the underlined title that a block begins with. Without any text below it, it is ordinary text. */
function headingOf(lines: string[], next: string[] | undefined): Title | null {
  const text = (lines[0] ?? '').trim()
  if (text.length > MAX_HEADING_LENGTH || !/\p{L}/u.test(text)) return null
  const underline = lines[1] && RULE.exec(lines[1])?.[1]
  const isFollowed = lines.length > 2 || next !== undefined
  return underline && isFollowed ? { text, level: underline === '=' ? 1 : 2, lines: 2 } : null
}
