import type { Gap } from '../../../platform/db/tables/knowledge.ts'
import { lettersOnly, visibleText } from '../../../platform/text/words/words.ts'
import type { Section } from '../extracted-document.ts'

type Part = { place: string; text: string }

/** The most parts that are listed; the last one stands for all others. */
const MAX_PARTS = 20
const MAX_PLACE_LENGTH = 80
/** Looking for a line in the whole text takes a while on a long page. */
const MAX_LINES = 5_000

/**
 * Lists the parts of a page that its text does not contain, with their number of words: elements that are marked as
 * navigation or similar, and lines that most pages of the site have, grouped by the heading above them.
 */
export function leftOutParts(
  parts: readonly Part[],
  page: readonly Section[],
  kept: readonly Section[],
): Gap[] {
  const said = lettersOnly(
    kept.flatMap(({ headingPath, text }) => [...headingPath, visibleText(text)]).join(' '),
  )
  const isSaid = (text: string): boolean => said.includes(lettersOnly(text))
  const lines = page.flatMap(({ headingPath, text }) =>
    visibleText(text)
      .split('\n')
      .map((line) => ({ place: headingPath.at(-1) ?? 'on most pages', text: line })),
  )
  const words = new Map<string, number>()
  for (const { place, text } of [...parts, ...lines.slice(0, MAX_LINES)]) {
    const count = isSaid(text) ? 0 : (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0)
    const key = words.has(place) || words.size < MAX_PARTS - 1 ? place.slice(0, MAX_PLACE_LENGTH) : 'others'
    if (count > 0) words.set(key, (words.get(key) ?? 0) + count)
  }
  return [...words].map(([place, count]) => ({ kind: 'parts', place, count }))
}
