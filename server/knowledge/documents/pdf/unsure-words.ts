import { splitWords } from '../../../platform/text/words/words.ts'
import type { PdfItem } from './right-to-left.ts'

/** How far a text is above or below the one before it, and how near it begins, in heights of the larger one. */
const RAISED = 0.1
const LINE = 0.6
const NEAR = 0.2

/**
 * Returns how many words of a page stand at an angle, or directly at a text that is above or below their line, as in
 * drawings and formulas. No program can be sure where these begin and end.
 */
export function countUnsure(items: readonly PdfItem[]): number {
  let count = 0
  let before: PdfItem | undefined
  for (const item of items) {
    if (item.str.trim() === '') continue
    const words = splitWords(item.str).length
    if (isTurned(item)) count += words
    else if (before && !isTurned(before) && isRaised(before, item) && isJoined(before, item)) count += 1
    before = item
  }
  return count
}

const isTurned = ({ transform: [, turn = 0, skew = 0, scale = 0] }: PdfItem): boolean =>
  Math.abs(turn) > Math.abs(scale) / 10 && Math.abs(skew) > 0

/** Returns whether the letters of two texts would be one word. */
const isJoined = (before: PdfItem, item: PdfItem): boolean =>
  /[\p{L}\p{N}]$/u.test(before.str) && /^[\p{L}\p{N}]/u.test(item.str)

function isRaised(before: PdfItem, item: PdfItem): boolean {
  const [x, y] = [
    (item.transform[4] ?? 0) - (before.transform[4] ?? 0) - before.width,
    (item.transform[5] ?? 0) - (before.transform[5] ?? 0),
  ]
  const size = Math.max(before.height, item.height)
  return Math.abs(y) > size * RAISED && Math.abs(y) < size * LINE && Math.abs(x) < size * NEAR
}
