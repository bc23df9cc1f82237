import type { Language } from '../../../text/languages/language.ts'
import { splitSentences } from '../../../text/words/sentences.ts'

/** A piece of text that stays whole: a sentence, or a line of a list, table or code block. */
export type TextUnit = {
  text: string
  /** What stands between it and the unit before it. */
  separator: string
  isSentence: boolean
  /** For the first unit of a paragraph: characters of the whole paragraph. Else 0. */
  paragraphChars: number
}

/** Code stands between two lines that begin so. */
export const FENCE = /^`{3}/

/**
 * Section text → units of at most `maxChars` characters. A paragraph of one line is prose and falls into sentences; the
 * lines of a longer one are kept whole. What is too long even so is cut between words, or between characters.
 */
export function textUnits(text: string, maxChars: number, language: Language): TextUnit[] {
  const units: TextUnit[] = []
  for (const paragraph of text.split(/\n{2,}/)) {
    const lines = paragraph.split('\n').filter((line) => line.trim() !== '')
    let isFirst = true
    const isCode = FENCE.test(lines[0] ?? '')
    for (const line of lines) {
      const isProse = lines.length === 1
      const pieces =
        isProse || line.length > maxChars
          ? sentencePieces(line, maxChars, language)
          : [{ text: isCode ? line.trimEnd() : line.trim(), gap: '' }]
      for (const [at, piece] of pieces.entries()) {
        const separator = isFirst ? '\n\n' : at === 0 ? '\n' : piece.gap
        const paragraphChars = isFirst ? paragraph.length : 0
        units.push({ text: piece.text, separator, isSentence: isProse, paragraphChars })
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

// Runs of characters that are cut in any case are kept from the sentence splitter, whose time grows with their square.
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

// No letter or emoji is longer than this many UTF-16 units; what is, is cut between code points.
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
