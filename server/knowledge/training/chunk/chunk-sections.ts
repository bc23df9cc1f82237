import type { Language } from '../../../text/languages/language.ts'
import type { Section } from '../../extract/extracted-document.ts'
import { FENCE, type TextUnit, textUnits } from './text-units.ts'

export type Chunk = {
  headingPath: string[]
  page: number | null
  text: string
  /** The id of its heading on a page of the web. */
  anchor?: string
  /** From 0, in reading order over the whole document. */
  ordinal: number
}

export type ChunkOptions = {
  /** Characters (UTF-16 units) a chunk aims at. */
  targetChars?: number
  /** No chunk is longer. */
  maxChars?: number
  /** Sentences repeated from the chunk before, where the cut lies inside a paragraph. */
  overlapSentences?: number
  language?: Language
}

/**
 * Sections → chunks for the index. A chunk holds text of one section; sentences, list items and table rows stay
 * whole as long as they fit; cuts fall between paragraphs where that leaves no chunk under half the target.
 */
export function chunkSections(sections: readonly Section[], options: ChunkOptions = {}): Chunk[] {
  const { targetChars = 900, maxChars = 1400, overlapSentences = 1, language = 'other' } = options
  const chunks: Chunk[] = []
  for (const { text, ...place } of sections) {
    // What code gets at a cut has to fit, too.
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
/** What a cut directly before or behind a fence leaves. */
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
    const grown = length + unit.separator.length + unit.text.length
    const isHalfFull = length >= targetChars / 2
    const breaksParagraph = unit.paragraphChars <= targetChars && length + unit.paragraphChars > targetChars
    const startsNew =
      grown > maxChars ||
      (isHalfFull && (grown > targetChars || (unit.paragraphChars > 0 && breaksParagraph)))
    if (current.length > 0 && startsNew) {
      chunks.push(current)
      const overlap = unit.paragraphChars > 0 ? [] : overlapOf(current, overlapSentences, targetChars / 3)
      current = joined([...overlap, unit]).length <= maxChars ? overlap : []
      length = joined(current).length
    }
    length += current.length > 0 ? unit.separator.length + unit.text.length : unit.text.length
    current.push(unit)
  }
  if (current.length > 0) chunks.push(current)
  return chunks
}

function overlapOf(units: TextUnit[], sentences: number, maxChars: number): TextUnit[] {
  const overlap: TextUnit[] = []
  for (const unit of units.slice(1).reverse()) {
    if (overlap.length === sentences || !unit.isSentence || joined([unit, ...overlap]).length > maxChars)
      break
    overlap.unshift(unit)
  }
  return overlap
}

function joined(units: TextUnit[]): string {
  return units.map(({ separator, text }, at) => (at === 0 ? text : separator + text)).join('')
}
