import { splitWords, visibleText } from '../../platform/text/words/words.ts'
import type { Section } from './extracted-document.ts'
import type { GapCounter } from './gaps.ts'

/** What a file holds at a place, as it stands there. */
export type Raw = { place: string; text: string }

/** Beyond this share of the words, a reader would miss something. */
const NOTED = 0.03

export const isNotable = (words: number, all: number): boolean => words > all * NOTED

/**
 * Compares what a file holds with what was read of it, word by word, and counts what is left out at each place if it is
 * more than a few words of a long text.
 */
export function countLeftOut(missing: GapCounter, raw: readonly Raw[], read: readonly Section[]): void {
  const left = new Map<string, number>()
  let open: readonly string[] = []
  for (const { headingPath, text } of read) {
    const added = headingPath.filter((heading, at) => open[at] !== heading)
    open = headingPath
    for (const word of splitWords([...added, visibleText(text)].join(' ')))
      left.set(word, (left.get(word) ?? 0) + 1)
  }
  let all = 0
  const lost = new Map<string, number>()
  for (const { place, text } of raw)
    for (const word of splitWords(text)) {
      all += 1
      const count = left.get(word) ?? 0
      if (count > 0) left.set(word, count - 1)
      else lost.set(place, (lost.get(place) ?? 0) + 1)
    }
  const sum = [...lost.values()].reduce((total, count) => total + count, 0)
  if (!isNotable(sum, all)) return
  for (const [place, count] of lost) missing.add('words', place, count)
}
