import {
  type AnalysedQuestion,
  analyseQuestion,
} from '../../server/knowledge/search/question/analyse-question.ts'
import { fuse } from '../../server/knowledge/search/ranking/fuse.ts'
import { rankByTerms } from '../../server/knowledge/search/ranking/rank-terms.ts'
import {
  bestSentenceFinder,
  rankBySentence,
  rankByVector,
} from '../../server/knowledge/search/ranking/rank-vectors.ts'
import type { Hits } from '../../server/knowledge/search/ranking/top-hits.ts'
import { searchTables } from '../../server/knowledge/search/search-tables.ts'
import { showChunks } from '../../server/knowledge/search/tables/drop-chunks.ts'
import { createTables, type Tables } from '../../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../../server/knowledge/search/tables/write-chunks.ts'
import { composeAnswer } from '../../server/models/builtin/compose-answer.ts'
import type { WordVectors } from '../../server/models/static/word-vectors.ts'
import { createStemmer } from '../../server/text/languages/stem.ts'
import { type DocumentSet, isExpected, type SetQuestion } from './load-set.ts'

/** The figures as shares from 0 to 1. Recall at k is the share of questions with a right section among the first k. */
export type RetrievalFigures = { recall1: number; recall3: number; recall5: number; mrr: number }
/**
 * The share of the answerable questions that the built-in responder answered, and that of the unanswerable ones that
 * it declined.
 */
export type AnswerFigures = { answered: number; declined: number }

type Questions = Pick<DocumentSet, 'answerable' | 'unanswerable'>
/** The number of results considered for the reciprocal rank. */
const PLACES = 10
/** The number of passages that the responder receives. */
const PASSAGES = 8

/** Indexes all chunks of a set. `vectors` are those of an embedding provider, in the order of the chunks. */
export function indexOf({ chunks }: DocumentSet, words: WordVectors, vectors?: Float32Array[]): Tables {
  const tables = createTables(words)
  const stem = createStemmer()
  const slots = chunks.map((chunk, i) => writeChunk(tables, { ...chunk, vector: vectors?.[i] ?? null }, stem))
  showChunks(tables, slots)
  return tables
}

type Ranker = (tables: Tables, question: string, queryVector?: Float32Array) => { headingPath: string[] }[]

/** Ranks by BM25 over stems only. */
export const byTerms: Ranker = (tables, question) =>
  chunksOf(tables, rankByTerms(tables, withoutKin(analyseQuestion(question, tables, null)), PLACES))

/** Removes from a question the words that documents use for its subjects. */
export const withoutKin = (question: AnalysedQuestion): AnalysedQuestion => ({
  ...question,
  terms: question.terms.filter(({ isAdded }) => !isAdded).map((term) => ({ ...term, kin: [] })),
})

/** Ranks by the vectors only: those of a provider, or the static ones of passages and sentences. */
export const byVectors: Ranker = (tables, question, queryVector) => {
  const { vector, provided } = analyseQuestion(question, tables, queryVector)
  if (provided) return chunksOf(tables, rankByVector(tables.slots, tables.provided!, provided, PLACES))
  if (!vector) return []
  const passages = rankByVector(tables.slots, tables.passages, vector, 100)
  const bestSentence = bestSentenceFinder(tables.slots, vector)
  const sentences = rankBySentence(tables.slots, tables.slots.chunks.keys(), bestSentence, 100)
  const both = [passages, sentences].map((hits) => ({ hits, weight: 1 }))
  return chunksOf(tables, fuse(both, PLACES))
}

/** Ranks as the service does. */
export const fused: Ranker = (tables, question, queryVector) =>
  searchTables(tables, question, { limit: PLACES, queryVector: queryVector ?? null }).passages

const chunksOf = ({ slots }: Tables, hits: Hits): { headingPath: string[] }[] =>
  hits.slots.map((slot) => slots.chunks[slot]!)

export function retrievalFigures(
  tables: Tables,
  questions: readonly SetQuestion[],
  ranker: Ranker,
  vectors?: Map<string, Float32Array>,
): RetrievalFigures {
  const places = questions.map((question) => {
    const found = ranker(tables, question.question, vectors?.get(question.question))
    return found.findIndex((chunk) => isExpected(chunk, question)) + 1
  })
  const recall = (k: number): number => share(places, (place) => place > 0 && place <= k)
  const mrr = places.reduce((sum, place) => sum + (place > 0 ? 1 / place : 0), 0) / places.length
  return { recall1: recall(1), recall3: recall(3), recall5: recall(5), mrr }
}

export function answerFigures(
  tables: Tables,
  { answerable, unanswerable }: Questions,
  words: WordVectors,
  vectors?: Map<string, Float32Array>,
): AnswerFigures {
  const declines = ({ question }: SetQuestion): boolean => {
    const found = searchTables(tables, question, {
      limit: PASSAGES,
      queryVector: vectors?.get(question) ?? null,
    })
    return composeAnswer({ question, ...found }, words).band === 'decline'
  }
  return {
    answered: share(answerable, (question) => !declines(question)),
    declined: share(unanswerable, declines),
  }
}

function share<T>(items: readonly T[], fits: (item: T) => boolean): number {
  return items.filter(fits).length / items.length
}
