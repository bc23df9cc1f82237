import type { QuotablePassage } from './input.ts'
import { FENCE, ITEM, LEADS_ON, type Piece, textOfLines } from './pieces.ts'

/** The most characters of a list that was split over several passages. */
const MOST_CHARACTERS = 3_000

const NUMBER = /^\s*\(?\d{1,3}[.)]\s/

/** A text to quote. If `goesOn`, it is only the beginning of a list. */
export type Chosen = { text: string; goesOn: boolean }

/**
 * Returns a list together with its parts in the passages before and after; null for a piece that is complete. Steps that
 * are too long together are quoted from the first one on, and other items only as far as they are in this passage.
 */
export function wholeList(
  piece: Piece,
  pieces: readonly Piece[],
  { listBefore = '', listAfter = '' }: QuotablePassage,
): Chosen | null {
  const before = piece === pieces[0] ? listBefore : ''
  const after = piece === pieces.at(-1) ? listAfter : ''
  if (before === '' && after === '') return null
  const text = joinList(joinList(before, withoutLead(before, piece.text)), after)
  if (text.length <= MOST_CHARACTERS) return { text, goesOn: false }
  const lines = text.split('\n')
  const first = lines.find((line) => ITEM.test(line))
  return first !== undefined && NUMBER.test(first) ? { text: beginningOf(lines), goesOn: true } : null
}

/** Returns as many whole steps as fit, with what precedes them. */
function beginningOf(lines: readonly string[]): string {
  let length = 0
  let end = 0
  for (const [at, line] of lines.entries()) {
    if (NUMBER.test(line)) end = at
    length += line.length + 1
    if (length > MOST_CHARACTERS) break
  }
  return textOfLines(lines, 0, end)
}

/** Joins two parts of a list, either of which may be empty. */
export function joinList(head: string, tail: string): string {
  if (head === '' || tail === '') return head + tail
  const isAtCode = FENCE.test(head.slice(head.lastIndexOf('\n') + 1)) || FENCE.test(tail)
  return `${head}${isAtCode ? '\n\n' : '\n'}${tail}`
}

/** Removes the introduction of a list, which every passage with a part of it repeats. */
export function withoutLead(head: string, tail: string): string {
  const [lead = '', ...rest] = tail.split('\n')
  return rest.length > 0 && LEADS_ON.test(lead) && head.split('\n').includes(lead) ? rest.join('\n') : tail
}
