import { SAME_WORD } from '../ranking/rank-grams.ts'
import type { Evidence } from '../ranking/relevance.ts'
import type { SlotTable } from '../tables/slot-table.ts'
import type { AnalysedQuestion } from './analyse-question.ts'

/** The bounds of what was measured when the weights were fitted. */
const MOST_WORDS = 6
const LEAST_CHUNKS = 50
const MOST_CHUNKS = 500

/**
 * The evidence that is the same for all chunks. `closest` is, for each term, the spelling similarity of the most
 * similar term in the index.
 */
export function questionEvidence(
  { live }: SlotTable,
  { terms }: AnalysedQuestion,
  closest: readonly number[],
): Pick<Evidence, 'strangeness' | 'unknownName' | 'words' | 'size' | 'few'> {
  const own = terms.filter(({ isAdded }) => !isAdded)
  const strange = closest.reduce((sum, likeness, i) => sum + (terms[i]!.isAdded ? 0 : 1 - likeness), 0)
  return {
    strangeness: own.length > 0 ? strange / own.length : 1,
    unknownName: terms.some(({ isName }, i) => isName && closest[i]! < SAME_WORD) ? 1 : 0,
    words: Math.min(own.length, MOST_WORDS),
    size: Math.log(Math.min(Math.max(live, LEAST_CHUNKS), MOST_CHUNKS) / MOST_CHUNKS),
    few: Math.log(LEAST_CHUNKS / Math.min(Math.max(live, 1), LEAST_CHUNKS)),
  }
}
