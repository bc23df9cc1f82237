import { type AnalysedQuestion, analyseQuestion } from './analyse-question.ts'
import { findQuestion } from './exact-questions.ts'
import { fuse } from './fuse.ts'
import { gatherEvidence } from './gather-evidence.ts'
import { type Passage, passageOf } from './passage.ts'
import { rankByVector } from './rank-vectors.ts'
import { orderOf, relevanceOf } from './relevance.ts'
import type { Tables } from './tables.ts'
import type { Hits } from './top-hits.ts'
import { worstPair } from './worst-pair.ts'

/** Hits of a provider's vectors that are fused with the rest. */
const PROVIDED = 100
/** As much as all other evidence together: a good model knows more, a poor one less. */
const PROVIDED_WEIGHT = 1
/** Chunks among which the best evidence tells how likely there is an answer. */
const CONFIDENT = 3
/** What each chunk of a section costs the chunks of it that follow, in units of the order. */
const SAME_SECTION = 1

export type SearchOptions = { limit: number; queryVector?: Float32Array | null }
export type SearchResult = { passages: Passage[]; confidence: number }

/** The passages most likely to answer, best first, and how likely (0..1) the best of them does. */
export function searchTables(tables: Tables, question: string, options: SearchOptions): SearchResult {
  const exact = findQuestion(tables.exact, question)
  const analysed = analyseQuestion(question, tables, options.queryVector)
  const ranked = rankChunks(tables, analysed, options.limit)
  const others = ranked.slots.map((slot, i) => ({ slot, score: ranked.scores[i]! }))
  const first = exact.map((slot) => ({ slot, score: 1 }))
  const found = [...first, ...others.filter(({ slot }) => !exact.includes(slot))].slice(0, options.limit)
  return {
    passages: found.map(({ slot, score }) => passageOf(tables.slots.chunks[slot]!, score)),
    confidence: found[0]?.score ?? 0,
  }
}

/** The best chunks with a chance for each; `limit` of them, or a few more. */
function rankChunks(tables: Tables, question: AnalysedQuestion, limit: number): Hits {
  if (question.terms.length === 0 && !question.provided) return { slots: [], scores: [] }
  const provided = question.provided
    ? rankByVector(tables.slots, tables.provided!, question.provided, PROVIDED)
    : null
  const { candidates: found, matcher } = gatherEvidence(tables, question, provided)
  const candidates = found
    .map(({ slot, evidence }) => ({ slot, order: orderOf(evidence) }))
    .sort((a, b) => b.order - a.order || a.slot - b.slot)
  spreadSections(tables, candidates)
  const evidenceOf = new Map(found.map(({ slot, evidence }) => [slot, evidence]))
  const slots = candidates.map(({ slot }) => slot)
  const own: Hits = { slots, scores: slots.map(() => 0) }
  const order = provided
    ? fuse(
        [
          { hits: own, weight: 1 },
          { hits: provided, weight: PROVIDED_WEIGHT },
        ],
        slots.length,
      ).slots
    : slots
  const kept = order.slice(0, Math.max(limit, CONFIDENT))
  const chances = kept.map((slot) => {
    const evidence = evidenceOf.get(slot)
    return evidence ? relevanceOf(evidence, worstPair(tables.slots.chunks[slot]!, question, matcher)) : 0
  })
  // The order and the chance weigh the evidence differently; scores are not to rise from one place to the next.
  let score = Math.max(0, ...chances.slice(0, CONFIDENT))
  return {
    slots: kept,
    scores: chances.map((chance, place) => {
      if (place > 0) score = Math.min(score, chance)
      return score
    }),
  }
}

/** Chunks of one section say much the same: each makes those after it wait, so that other sections are seen too. */
function spreadSections(tables: Tables, candidates: { slot: number; order: number }[]): void {
  const taken = new Map<string, number>()
  for (const candidate of candidates) {
    const { sourceId, headingPath } = tables.slots.chunks[candidate.slot]!
    const section = JSON.stringify([sourceId, headingPath])
    const before = taken.get(section) ?? 0
    taken.set(section, before + 1)
    candidate.order -= before * SAME_SECTION
  }
  candidates.sort((a, b) => b.order - a.order || a.slot - b.slot)
}
