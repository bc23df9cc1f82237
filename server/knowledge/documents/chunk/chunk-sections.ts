import type { Language } from '../../../platform/text/languages/language.ts'
import { splitSentences, visibleText } from '../../../platform/text/words/words.ts'
import type { Section } from '../extracted-document.ts'

export type Chunk = {
  headingPath: string[]
  page: number | null
  text: string
  /** The id of its heading on a web page. */
  anchor?: string
  /** See Section. */
  isContact?: true
  /** From 0, in reading order over the whole document. */
  ordinal: number
}

export type ChunkOptions = {
  /** The target length of a chunk in UTF-16 units. */
  targetChars?: number
  /** The maximum length of a chunk. */
  maxChars?: number
  /** The number of sentences that are repeated from the previous chunk after a cut within a paragraph. */
  overlapSentences?: number
  language?: Language
}

/**
 * Cuts sections into chunks. A chunk has text of one section. Sentences, list items and table rows stay whole if
 * they fit. Cuts are between paragraphs where that leaves no chunk shorter than half the target.
 */
export function chunkSections(sections: readonly Section[], options: ChunkOptions = {}): Chunk[] {
  const { targetChars = 900, maxChars = 1400, overlapSentences = 1, language = 'other' } = options
  const chunks: Chunk[] = []
  for (const { text, ...place } of sections) {
    // The fences that are added to code at a cut must fit, too.
    const longest = text.includes(FENCE_LINE) ? maxChars - 2 * (FENCE_LINE.length + 1) : maxChars
    let isInCode = false
    for (const units of packed(textUnits(text, longest, language), targetChars, longest, overlapSentences)) {
      const opened = isInCode
      for (const unit of units) if (FENCE.test(unit.text)) isInCode = !isInCode
      const lines = [...(opened ? [FENCE_LINE] : []), joined(units), ...(isInCode ? [FENCE_LINE] : [])]
      const whole = lines.join('\n').replace(EMPTY_AT_START, '').replace(EMPTY_AT_END, '')
      if (whole !== '') chunks.push({ ...place, text: whole, ordinal: chunks.length })
    }
  }
  return chunks
}

const FENCE_LINE = '```'
/** The empty code blocks that a cut next to a fence leaves. */
const EMPTY_AT_START = /^```\n```(?:\n+|$)/
const EMPTY_AT_END = /(?:^|\n+)```[^\n]*\n```$/

function packed(
  units: TextUnit[],
  targetChars: number,
  maxChars: number,
  overlapSentences: number,
): TextUnit[][] {
  const chunks: TextUnit[][] = []
  let current: TextUnit[] = []
  let length = 0
  for (const unit of units) {
    const grown = length + unit.separator.length + unit.chars
    const isHalfFull = length >= targetChars / 2
    const breaksParagraph = unit.paragraphChars <= targetChars && length + unit.paragraphChars > targetChars
    const startsNew =
      grown > maxChars ||
      (isHalfFull && (grown > targetChars || (unit.paragraphChars > 0 && breaksParagraph)))
    if (current.length > 0 && startsNew) {
      const led = leadOf(current, unit)
      const isMoved = led.length > 0 && led.length < current.length && charsOf([...led, unit]) <= maxChars
      chunks.push(isMoved ? current.slice(0, -led.length) : current)
      const before = isMoved ? led : repeated(current, unit, overlapSentences, targetChars / 3)
      current = charsOf([...before, unit]) <= maxChars ? before : []
      length = charsOf(current)
    }
    length += current.length > 0 ? unit.separator.length + unit.chars : unit.chars
    current.push(unit)
  }
  if (current.length > 0) chunks.push(current)
  return chunks
}

/** The most characters of a line that introduces a code block without a colon at its end, and of a question. */
const MAX_LEAD_LENGTH = 200
const LEADS_ON = /[:：](?:\*\*)?$/
const ASKS = /[?？؟](?:\*\*)?$/
/** Matches the number of a step, which looks like a sentence of its own. */
const NUMBER = /^\(?\d{1,3}[.)]$/
const ITEM = /^\s*(?:[-*+•‣▪—–]|\(?\d{1,3}[.)]|[a-z]\))\s/

/**
 * Returns the last units of a chunk that introduce the unit after it and would be meaningless without it: a text that
 * ends with a colon, a question before its answer, and a line before a code block, such as a step before its command.
 * Several introductions may follow each other.
 */
function leadOf(units: readonly TextUnit[], next: TextUnit): TextUnit[] {
  let from = units.length
  let led = next
  while (from > 0 && leadsTo(units[from - 1]!, led)) led = units[--from]!
  return units.slice(from)
}

function leadsTo({ text, chars, paragraphChars }: TextUnit, next: TextUnit): boolean {
  if (FENCE.test(text)) return false
  if (NUMBER.test(text)) return true
  if (next.isSentence && next.paragraphChars === 0) return false
  const isQuestion = ASKS.test(text) && paragraphChars === chars
  return LEADS_ON.test(text) || ((isQuestion || FENCE.test(next.text)) && text.length <= MAX_LEAD_LENGTH)
}

/**
 * Returns the part of a chunk that is repeated before the next unit: its last sentences, or the introduction of a
 * list.
 */
function repeated(
  units: readonly TextUnit[],
  next: TextUnit,
  sentences: number,
  maxChars: number,
): TextUnit[] {
  if (next.paragraphChars > 0 || sentences === 0) return []
  if (next.isSentence) return overlapOf(units, sentences, maxChars)
  const first = units.findLastIndex(({ paragraphChars }) => paragraphChars > 0)
  const lead = [units[first], units[first - 1]].find((unit) => unit && LEADS_ON.test(unit.text))
  return lead && ITEM.test(next.text) && !FENCE.test(lead.text) && lead.text.length <= maxChars ? [lead] : []
}

function overlapOf(units: readonly TextUnit[], sentences: number, maxChars: number): TextUnit[] {
  const overlap: TextUnit[] = []
  for (const unit of units.slice(1).reverse()) {
    if (overlap.length === sentences || !unit.isSentence || charsOf([unit, ...overlap]) > maxChars) break
    overlap.unshift(unit)
  }
  return overlap
}

function joined(units: TextUnit[]): string {
  return units.map(({ separator, text }, at) => (at === 0 ? text : separator + text)).join('')
}

/** Returns the length of the joined units without the marks and addresses of Markdown, which their reader does not see. */
const charsOf = (units: TextUnit[]): number =>
  units.reduce((sum, { separator, chars }, at) => sum + (at === 0 ? 0 : separator.length) + chars, 0)

/** A piece of text that stays whole: a sentence, or a line of a list, table or code block. */
type TextUnit = {
  text: string
  /** The text between it and the previous unit. */
  separator: string
  isSentence: boolean
  /** The length of the text as its reader sees it. */
  chars: number
  /** The length of the paragraph, for its first unit; 0 for the others. */
  paragraphChars: number
}

/** Matches the first and the last line of a code block. */
const FENCE = /^`{3}/

/**
 * Splits the text of a section into units of at most `maxChars` characters. A paragraph of one line is prose and is
 * split into sentences. The lines of a longer paragraph are kept whole. What is still too long is cut between words
 * or characters.
 */
function textUnits(text: string, maxChars: number, language: Language): TextUnit[] {
  const units: TextUnit[] = []
  for (const paragraph of text.split(/\n{2,}/)) {
    const lines = paragraph.split('\n').filter((line) => line.trim() !== '')
    let isFirst = true
    const isCode = FENCE.test(lines[0] ?? '')
    for (const line of lines) {
      const isProse = lines.length === 1
      const pieces =
        isProse || visibleText(line).length > maxChars
          ? sentencePieces(line, maxChars, language)
          : [{ text: isCode ? line.trimEnd() : line.trim(), gap: '' }]
      for (const [at, piece] of pieces.entries()) {
        const separator = isFirst ? '\n\n' : at === 0 ? '\n' : piece.gap
        const paragraphChars = isFirst ? visibleText(paragraph).length : 0
        const chars = visibleText(piece.text).length
        units.push({ text: piece.text, separator, isSentence: isProse, chars, paragraphChars })
        isFirst = false
      }
    }
  }
  return units
}

type Piece = { text: string; gap: string }

function sentencePieces(line: string, maxChars: number, language: Language): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const sentence of sentencesAndRuns(line, maxChars, language)) {
    const start = line.indexOf(sentence, end)
    // Japanese and Chinese sentences follow each other without a space.
    const gap = /\s/.test(line.slice(end, start)) ? ' ' : ''
    pieces.push(...cut(sentence, maxChars).map((piece, at) => (at === 0 ? { ...piece, gap } : piece)))
    end = start + sentence.length
  }
  return pieces
}

// Runs of characters that are longer than a unit are not given to the sentence splitter, which takes quadratic time.
function sentencesAndRuns(line: string, maxChars: number, language: Language): string[] {
  const parts: string[] = []
  let from = 0
  for (const { 0: run, index } of line.matchAll(/[^\s.!?。！？]+/g)) {
    if (run.length <= maxChars) continue
    parts.push(...splitSentences(line.slice(from, index), language), run)
    from = index + run.length
  }
  return [...parts, ...splitSentences(line.slice(from), language)]
}

function cut(sentence: string, maxChars: number): Piece[] {
  const pieces: Piece[] = []
  let rest = sentence
  let gap = ''
  while (rest.length > maxChars) {
    const space = rest.slice(0, maxChars + 1).search(/\s\S*$/)
    const at = space > maxChars / 2 ? space : betweenCharacters(rest, maxChars)
    pieces.push({ text: rest.slice(0, at).trimEnd(), gap })
    gap = /^\s/.test(rest.slice(at)) ? ' ' : ''
    rest = rest.slice(at).trimStart()
  }
  if (rest) pieces.push({ text: rest, gap })
  return pieces
}

// No letter or emoji is longer than this many UTF-16 units. Anything longer is cut between code points.
const longestCharacter = 64

function betweenCharacters(text: string, at: number): number {
  const from = Math.max(0, at - longestCharacter)
  const segments = new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(
    text.slice(from, at + 2),
  )
  const start = segments.containing(at - from)?.index ?? 0
  if (start > 0) return from + start
  const isInsidePair = /[\udc00-\udfff]/.test(text[at] ?? '')
  return isInsidePair && at > 1 ? at - 1 : at
}
