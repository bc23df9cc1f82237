import { isDense } from '../../../text/languages/dense-script.ts'
import { characterNGrams } from '../../../text/words/n-grams.ts'
import type { AnalysedQuestion, QuestionTerm } from '../question/analyse-question.ts'
import { termsWithGram } from '../tables/gram-table.ts'
import type { Tables } from '../tables/tables.ts'
import { slotOf } from '../tables/term-table.ts'
import { inverseFrequency, rarity } from './rank-terms.ts'
import { bestOfAll, type Hits } from './top-hits.ts'

const MOST_SIMILAR_TERMS = 40
const LEAST_SIMILARITY = 0.25
/** From this similarity on, a term counts as another spelling of the word. */
export const SAME_WORD = 0.6

type SimilarTerm = { id: number; similarity: number }

/**
 * `closest` is, for each term of the question, how similar (0 to 1) the most similar term of the index is spelled.
 */
type GramHits = Hits & { closest: number[] }

/**
 * Finds compounds, inflections and misspellings: each word of the question also matches terms with a similar
 * spelling.
 */
export function rankByGrams(tables: Tables, question: AnalysedQuestion, limit: number): GramHits {
  const { slots, terms } = tables
  const scores = new Float32Array(slots.count)
  const seenFor = new Int32Array(slots.count).fill(-1)
  const closest: number[] = []
  const shared = new Float64Array(terms.postings.length)
  question.terms.forEach((term, index) => {
    const similar = similarTerms(tables, term, shared)
    closest.push(similar[0]?.similarity ?? 0)
    const found = similar.filter(({ similarity }) => similarity >= SAME_WORD)
    const most = found.reduce((sum, { id }) => sum + terms.postings[id]!.length, 0)
    const weight = rarity(slots, most) * term.information
    // The most similar term comes first, because a slot counts once for each word of the question.
    for (const { id, similarity } of similar) {
      for (const posting of terms.postings[id]!) {
        const slot = slotOf(posting)
        if (seenFor[slot] === index) continue
        seenFor[slot] = index
        scores[slot]! += weight * similarity
      }
    }
  })
  return { ...bestOfAll(slots, scores, limit), closest }
}

/**
 * Returns the terms of the index that share n-grams with a word of the question, with the share of rare n-grams in
 * common. `shared` has an element for each term of the index, which is zero before and after the call.
 */
function similarTerms(tables: Tables, term: QuestionTerm, shared: Float64Array): SimilarTerm[] {
  const { grams, terms } = tables
  const touched: number[] = []
  let mass = 0
  if (!isDense(term.word)) {
    for (const gram of characterNGrams(term.forms[0] ?? '')) {
      const ids = termsWithGram(grams, gram)
      const weight = inverseFrequency(ids.length, grams.termCount)
      mass += weight
      for (const id of ids) {
        if (shared[id] === 0) touched.push(id)
        shared[id]! += weight
      }
    }
  }
  for (const form of term.forms) {
    const id = terms.ids.get(form)
    if (id === undefined) continue
    if (shared[id] === 0) touched.push(id)
    shared[id] = mass || 1
  }
  const similar: SimilarTerm[] = []
  for (const id of touched) {
    const similarity = shared[id]! / (mass || 1)
    shared[id] = 0
    if (similarity >= LEAST_SIMILARITY) similar.push({ id, similarity })
  }
  return similar.sort((a, b) => b.similarity - a.similarity || a.id - b.id).slice(0, MOST_SIMILAR_TERMS)
}
