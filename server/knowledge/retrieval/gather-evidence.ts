import { splitWords } from '../../text/words.ts'
import type { AnalysedQuestion } from './analyse-question.ts'
import { createMatcher, type WordMatcher } from './match-words.ts'
import type { IndexedChunk } from './passage.ts'
import { rankByGrams } from './rank-grams.ts'
import { rankByMeanings } from './rank-meanings.ts'
import { rankByTerms } from './rank-terms.ts'
import { bestSentence, rankBySentence, rankByVector } from './rank-vectors.ts'
import type { Evidence } from './relevance.ts'
import { withNameParts } from './split-identifiers.ts'
import type { Tables } from './tables.ts'
import type { Hits } from './top-hits.ts'

/** Hits asked of each ranker, and those of them that are looked at closely. */
const DEPTH = 100
const LOOKS = 16
/** Up to here every sentence is compared, beyond only those of the chunks that another ranker found. */
const ALL_SENTENCES = 2_000

/** A chunk that some ranker found, and what speaks for it. */
export type Candidate = { slot: number; evidence: Evidence }

/** The chunks that may hold the answer, best of each ranker first, with the evidence for each. */
export function gatherEvidence(tables: Tables, question: AnalysedQuestion, also: Hits | null): Candidate[] {
  const { slots } = tables
  const terms = rankByTerms(tables, question, DEPTH)
  const grams = rankByGrams(tables, question, DEPTH)
  const rankings: Hits[] = [terms, grams]
  const meanings = question.vector ? rankByMeanings(tables, question, DEPTH) : null
  if (question.vector && meanings) {
    const passages = rankByVector(slots, tables.passages, question.vector, DEPTH)
    const found = new Set([terms, grams, meanings, passages].flatMap((hits) => hits.slots))
    const compared = slots.live <= ALL_SENTENCES ? slots.chunks.keys() : found
    rankings.push(meanings, passages, rankBySentence(slots, compared, question.vector, DEPTH))
  }
  if (also) rankings.push(also)

  const candidates = new Set<number>()
  for (let place = 0; place < LOOKS; place++) {
    for (const hits of rankings) if (place < hits.slots.length) candidates.add(hits.slots[place]!)
  }
  const matcher = createMatcher(tables, question)
  return [...candidates].map((slot) => ({
    slot,
    evidence: {
      terms: terms.share(slot),
      strangeness: grams.strangeness,
      meanings: meanings?.share(slot) ?? 0,
      sentence: question.vector && bestSentence(slots, slot, question.vector),
      ...wordEvidence(slots.chunks[slot]!, matcher),
    },
  }))
}

function wordEvidence(
  chunk: IndexedChunk,
  matcher: WordMatcher,
): Pick<Evidence, 'match' | 'rarest' | 'heading' | 'headingShare'> {
  const { weights } = matcher
  const path = splitWords(withNameParts(chunk.headingPath.slice(0, -1).join(' ')))
  const heading = splitWords(withNameParts(chunk.headingPath.at(-1) ?? ''))
  const text = splitWords(withNameParts([...(chunk.questions ?? []), chunk.text].join(' ')))
  const inHeading = bestOf(heading, matcher)
  const anywhere = bestOf([...heading, ...path, ...text], matcher)
  const telling = weights.indexOf(Math.max(...weights))
  const met = heading.flatMap((word) => matcher.likeness(word)?.reduce((a, b) => Math.max(a, b), 0) ?? [])
  return {
    match: weighted(anywhere, weights),
    rarest: anywhere[telling] ?? 0,
    heading: weighted(inHeading, weights),
    headingShare: met.length > 0 ? met.reduce((sum, value) => sum + value, 0) / met.length : 0,
  }
}

/** For each word of the question the likeness of the closest of the words. */
function bestOf(words: readonly string[], { weights, likeness }: WordMatcher): Float32Array {
  const best = new Float32Array(weights.length)
  for (const word of new Set(words)) {
    const alike = likeness(word)
    if (!alike) continue
    for (let i = 0; i < best.length; i++) if (alike[i]! > best[i]!) best[i] = alike[i]!
  }
  return best
}

function weighted(values: Float32Array, weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return total > 0 ? values.reduce((sum, value, i) => sum + value * weights[i]!, 0) / total : 0
}
