import type { WordIds } from '../question/match-words.ts'
import { inverseFrequency, saturated, type TermHits } from './rank-terms.ts'

type Fields = { title: WordIds; path: WordIds; text: WordIds }

/**
 * Returns the ranks (from 1) of chunks by BM25 that counts the stop words of the question, too. The index holds no
 * stop words, so they are counted in the candidate chunks, and their rarity is estimated from these alone.
 */
export function placesByAllWords(
  common: WordIds,
  { score, relative }: TermHits,
  said: ReadonlyMap<number, Fields>,
): Map<number, number> {
  const wanted = new Map([...common].map((id, place) => [id, place]))
  const counted = [...said].map(([slot, { title, path, text }]) => {
    const counts = new Uint16Array(wanted.size)
    for (const ids of [title, path, text]) {
      for (const id of ids) {
        const place = wanted.get(id)
        if (place !== undefined) counts[place]!++
      }
    }
    return { slot, counts }
  })
  const weights = [...common].map((_, place) => {
    const found = counted.filter(({ counts }) => counts[place]! > 0).length
    return inverseFrequency(found, counted.length)
  })
  const scored = counted.map(({ slot, counts }) => {
    const ofCommon = weights.reduce(
      (sum, weight, place) => sum + weight * saturated(counts[place]!, relative(slot)),
      0,
    )
    return { slot, score: score(slot) + ofCommon }
  })
  scored.sort((a, b) => b.score - a.score || a.slot - b.slot)
  return new Map(scored.map(({ slot }, index) => [slot, index + 1]))
}
