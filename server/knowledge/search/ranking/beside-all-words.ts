import { fuse } from './fuse.ts'
import { chanceOf, type Evidence, oddsAt } from './relevance.ts'
import type { Hits } from './top-hits.ts'

/**
 * The weight of the order by BM25 of all words, relative to the order by all evidence, and the constant of their
 * fusion. With these values, the first passage by BM25 ranks about as high as the second passage by all evidence.
 */
const WEIGHT = 0.5
const PLACES = 0
/** The weight if the probability of the first passage by all evidence is below FAINT. */
const WEIGHT_IF_FAINT = 1.5
const FAINT = 0.1
/**
 * The number of passages that are shown. Those whose heading and a sentence resemble the question stay among them.
 */
const SHOWN = 3
const HEADING_ALIKE = 0.3
const SENTENCE_ALIKE = 0.45

/**
 * Fuses the order by all evidence with that by BM25 of all words. If the word vectors or the spelling know little
 * about a subject, their evidence moves the right passage behind many others. Passages in another language than the
 * question get nothing for their words.
 */
export function besideAllWords(
  slots: readonly number[],
  evidenceOf: (slot: number) => Evidence,
  isForeign: (slot: number) => boolean,
): number[] {
  const byAllWords = slots
    .filter((slot) => !isForeign(slot))
    .toSorted((a, b) => evidenceOf(b).placed - evidenceOf(a).placed)
  const both = [
    { hits: rankingOf(slots), weight: 1 },
    { hits: rankingOf(byAllWords), weight: isFaint(slots, evidenceOf) ? WEIGHT_IF_FAINT : WEIGHT },
  ]
  const fused = fuse(both, slots.length, PLACES).slots
  const own = slots.slice(0, SHOWN)
  const first = fused.slice(0, SHOWN)
  const kept = own.filter((slot) => !first.includes(slot) && isAlike(evidenceOf(slot)))
  const added = first.filter((slot) => !own.includes(slot))
  const left = added.slice(added.length - kept.length)
  const isShown = (slot: number): boolean =>
    kept.includes(slot) || (first.includes(slot) && !left.includes(slot))
  return [...fused.filter(isShown), ...fused.filter((slot) => !isShown(slot))]
}

function isFaint(slots: readonly number[], evidenceOf: (slot: number) => Evidence): boolean {
  const found = slots.map(evidenceOf)
  // With vectors of an embedding provider, sharing few words with the question does not count against a passage.
  if (found.length === 0 || found.some(({ standsOut }) => standsOut !== 0)) return false
  return chanceOf(oddsAt(0, found)) < FAINT
}

const isAlike = ({ headingShare, sentence }: Evidence): boolean =>
  headingShare >= HEADING_ALIKE && (sentence ?? 0) >= SENTENCE_ALIKE

/** Converts an order to hits, for a fusion that only uses ranks. */
const rankingOf = (slots: readonly number[]): Hits => ({
  slots: [...slots],
  scores: slots.map(() => 0),
})
