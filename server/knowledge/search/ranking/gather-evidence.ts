import type { AnalysedQuestion } from '../question/analyse-question.ts'
import { cosinesAround } from '../question/cosines-around.ts'
import { createMatcher, type WordIds, type WordMatcher } from '../question/match-words.ts'
import { questionEvidence } from '../question/question-evidence.ts'
import { fieldsOf, saidIn } from '../tables/said-words.ts'
import type { Tables } from '../tables/tables.ts'
import { sharesByPieces } from './alike-in-pieces.ts'
import { measureStandingOut } from './measure-standing-out.ts'
import { placesByAllWords } from './place-by-all-words.ts'
import { rankByGrams } from './rank-grams.ts'
import { rankByMeanings } from './rank-meanings.ts'
import { rankByTerms } from './rank-terms.ts'
import { bestSentenceFinder, rankBySentence, rankByVector } from './rank-vectors.ts'
import type { Evidence } from './relevance.ts'
import type { Hits } from './top-hits.ts'

/**
 * DEPTH is the number of hits requested from each ranker. The other values say how many hits are examined closely,
 * which are fewer if there are word vectors, because these have rankers of their own.
 */
const DEPTH = 100
const LOOKS_OF_MANY = 12
const LOOKS = 16
/**
 * Up to this many chunks, every sentence is compared; in larger indexes, only those of chunks that another ranker has
 * found.
 */
const ALL_SENTENCES = 2_000

/** A chunk that a ranker has found, and the evidence for it. */
type Candidate = { slot: number; evidence: Evidence }

/** Returns the chunks that may contain the answer, the best of each ranker first, with the evidence for each. */
export function gatherEvidence(
  tables: Tables,
  question: AnalysedQuestion,
  also: Hits | null,
): { candidates: Candidate[]; matcher: WordMatcher } {
  const { slots } = tables
  const terms = rankByTerms(tables, question, DEPTH)
  const grams = rankByGrams(tables, question, DEPTH)
  const rankings: Hits[] = [terms, grams]
  // Where few chunks share the terms, those that share the other pairs are examined, too.
  const pairs = terms.slots.length < LOOKS ? question.otherPairs : []
  if (pairs.length > 0) rankings.push(rankByTerms(tables, withPairs(question, pairs), DEPTH))
  const common = [...question.common, ...pairs]
  const sentenceOf = question.vector && bestSentenceFinder(slots, question.vector)
  const meanings = question.vector ? rankByMeanings(tables, question, DEPTH) : null
  if (question.vector && sentenceOf && meanings) {
    const passages = rankByVector(slots, tables.passages, question.vector, DEPTH)
    const found = new Set([terms, grams, meanings, passages].flatMap((hits) => hits.slots))
    const compared = slots.live <= ALL_SENTENCES ? slots.chunks.keys() : found
    rankings.push(meanings, passages, rankBySentence(slots, compared, sentenceOf, DEPTH))
  }
  if (also) rankings.push(also)

  const candidates = new Set<number>()
  const looks = meanings ? LOOKS_OF_MANY : LOOKS
  for (let place = 0; place < looks; place++) {
    for (const hits of rankings) if (place < hits.slots.length) candidates.add(hits.slots[place]!)
  }
  const matcher = createMatcher(tables, question)
  const about = questionEvidence(slots, question, grams.closest)
  const around = question.vector ? cosinesAround(tables, candidates, question.vector) : new Map()
  // All words are numbered before the first is compared; see WordMatcher.
  const said = new Map([...candidates].map((slot) => [slot, wordsOf(tables, slot, matcher)]))
  const bestShare = terms.slots.length > 0 ? terms.share(terms.slots[0]!) : 0
  const placeByTerms = new Map(terms.slots.map((slot, place) => [slot, place + 1]))
  const spelled = new Map(grams.slots.map((slot, place) => [slot, grams.scores[place]! / grams.scores[0]!]))
  const placeByAll = placesByAllWords(matcher.idsOf(common), terms, said)
  const standsOut = question.provided ? measureStandingOut(slots, tables.provided!, question.provided) : null
  const pieces = question.vector
    ? null
    : sharesByPieces({ ...question, common }, matcher, terms.relative, said)
  const found = [...candidates].map((slot) => ({
    slot,
    evidence: {
      terms: terms.share(slot),
      held: terms.held(slot),
      first: placeByTerms.has(slot) ? 1 / placeByTerms.get(slot)! : 0,
      placed: nearness(placeByAll.get(slot)!),
      pieces: pieces?.get(slot) ?? 0,
      near: bestShare > 0 ? terms.share(slot) / bestShare : 0,
      spelled: spelled.get(slot) ?? 0,
      ...about,
      meanings: meanings?.share(slot) ?? 0,
      sentence: sentenceOf === null ? null : sentenceOf(slot),
      around: around.get(slot) ?? 0,
      standsOut: standsOut?.(slot) ?? 0,
      ...wordEvidence(said.get(slot)!, matcher, question),
    },
  }))
  return { candidates: found, matcher }
}

function withPairs(question: AnalysedQuestion, pairs: readonly string[]): AnalysedQuestion {
  const terms = pairs.map((pair) => ({
    word: pair,
    forms: [pair],
    information: 1,
    isName: false,
    kin: [],
    isAdded: false,
  }))
  return { ...question, terms: [...question.terms, ...terms] }
}

/** Maps a rank to a weight: 1 for the first rank, falling so slowly that the tenth counts about half. */
const nearness = (place: number): number => 11 / (10 + place)

type Said = { title: WordIds; path: WordIds; text: WordIds; titles: WordIds[] }

function wordsOf(tables: Tables, slot: number, { known, idsOfNumbers }: WordMatcher): Said {
  const { title, path, text, titles } = fieldsOf(saidIn(tables, slot, known))
  return {
    title: idsOfNumbers(title),
    path: idsOfNumbers(path),
    text: idsOfNumbers(text),
    titles: titles.map(idsOfNumbers),
  }
}

/** From this similarity on, a chunk has the word or another one for it. */
const HAS_WORD = 0.5

function wordEvidence(
  { title, path, text, titles }: Said,
  matcher: WordMatcher,
  { terms }: AnalysedQuestion,
): Pick<Evidence, 'match' | 'rarest' | 'heading' | 'headingShare' | 'kin' | 'missing'> {
  const { weights } = matcher
  const inHeading = matcher.bestOrKin([title])
  const anywhere = matcher.bestOrKin([title, path, text])
  const own = matcher.hasKin ? matcher.best([title, path, text]) : anywhere
  const telling = weights.indexOf(Math.max(...weights))
  const ownWeights = weights.map((weight, place) => (terms[place]!.isAdded ? 0 : weight))
  const missing = ownWeights.filter((_, place) => anywhere[place]! < HAS_WORD)
  const asked = ownWeights.reduce((sum, weight) => sum + weight, 0)
  return {
    missing: asked > 0 ? Math.max(0, ...missing) / asked : 0,
    kin: weighted(
      anywhere.map((value, place) => (value > own[place]! ? 1 : 0)),
      weights,
    ),
    match: weighted(anywhere, weights),
    rarest: anywhere[telling] ?? 0,
    heading: weighted(inHeading, weights),
    headingShare: Math.max(...titles.map((words) => shareMet(words, matcher))),
  }
}

/** Returns the mean similarity of the words to their closest words in the question. */
function shareMet(words: WordIds, { isCompared, mostAlike }: WordMatcher): number {
  let sum = 0
  let compared = 0
  for (const id of words) {
    if (!isCompared(id)) continue
    compared++
    sum += mostAlike(id)
  }
  return compared > 0 ? sum / compared : 0
}

function weighted(values: Float32Array, weights: readonly number[]): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return total > 0 ? values.reduce((sum, value, i) => sum + value * weights[i]!, 0) / total : 0
}
