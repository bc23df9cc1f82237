import { type AnalysedQuestion, analyseQuestion } from './analyse-question.ts'
import { findQuestion } from './exact-questions.ts'
import { fuse } from './fuse.ts'
import { type Passage, passageOf } from './passage.ts'
import { rankByGrams } from './rank-grams.ts'
import { rankByTerms } from './rank-terms.ts'
import { bestSentence, rankBySentence, rankByVector } from './rank-vectors.ts'
import { meaningShare, relevanceOf } from './relevance.ts'
import type { Tables } from './tables.ts'
import type { Hits } from './top-hits.ts'

/** Hits that each ranker hands to the fusion. */
const DEPTH = 100
/** Hits of the fusion that are looked at closely. */
const CLOSE_LOOKS = 16
/** The best of each ranker are looked at in any case: equal scores elsewhere can push them out of the fusion. */
const OWN_LOOKS = 4
/** Up to here every sentence is compared, beyond only those of the chunks that another ranker found. */
const ALL_SENTENCES = 2_000

export type SearchOptions = { limit: number; queryVector?: Float32Array | null }
export type SearchResult = { passages: Passage[]; confidence: number }

/** The passages most likely to answer, best first, and how likely (0..1) the best of them does. */
export function searchTables(tables: Tables, question: string, options: SearchOptions): SearchResult {
  const exact = findQuestion(tables.exact, question)
  const analysed = analyseQuestion(question, tables, options.queryVector)
  const ranked = rankChunks(tables, analysed, Math.max(CLOSE_LOOKS, options.limit))
  const others = ranked.slots.map((slot, i) => ({ slot, score: ranked.scores[i]! }))
  const first = exact.map((slot) => ({ slot, score: 1 }))
  const found = [...first, ...others.filter(({ slot }) => !exact.includes(slot))].slice(0, options.limit)
  return {
    passages: found.map(({ slot, score }) => passageOf(tables.slots.chunks[slot]!, score)),
    confidence: found.reduce((most, { score }) => Math.max(most, score), 0),
  }
}

function rankChunks(tables: Tables, question: AnalysedQuestion, limit: number): Hits {
  if (question.terms.length === 0 && !question.provided) return { slots: [], scores: [] }
  const { slots } = tables
  const terms = rankByTerms(tables, question, DEPTH)
  const grams = rankByGrams(tables, question, DEPTH)
  const rankings = [
    { hits: terms as Hits, weight: 1 },
    { hits: grams as Hits, weight: 0.5 },
  ]
  const provided = question.provided && rankByVector(slots, tables.provided!, question.provided, DEPTH)
  if (provided) rankings.push({ hits: provided, weight: 2 })
  if (question.vector && !provided) {
    const passages = rankByVector(slots, tables.passages, question.vector, DEPTH * 2)
    const compared = slots.live <= ALL_SENTENCES ? slots.chunks.keys() : union(terms, grams, passages)
    const sentences = rankBySentence(slots, compared, question.vector, DEPTH)
    rankings.push({ hits: passages, weight: 0.7 }, { hits: sentences, weight: 0.7 })
  }

  const fused = fuse(rankings, limit)
  const looked = new Set([...fused.slots, ...rankings.flatMap(({ hits }) => hits.slots.slice(0, OWN_LOOKS))])
  const candidates = [...looked]
  const relevance = candidates.map((slot) =>
    relevanceOf({
      coverage: grams.coverage(slot),
      strangeness: grams.strangeness,
      sentence: question.vector && bestSentence(slots, slot, question.vector),
      meaning: question.vector ? meaningShare(tables.words, question.known, slots.chunks[slot]!) : 0,
    }),
  )
  // A provider's vectors order better than the evidence does; without them the evidence decides.
  const order = candidates.map((_, i) => i)
  if (!provided) order.sort((a, b) => relevance[b]! - relevance[a]! || a - b)
  return { slots: order.map((i) => candidates[i]!), scores: order.map((i) => relevance[i]!) }
}

function union(...rankings: Hits[]): Set<number> {
  return new Set(rankings.flatMap((hits) => hits.slots))
}
