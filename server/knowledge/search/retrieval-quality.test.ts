import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Corpus, loadCorpus } from '../../../test/retrieval-corpus/load-corpus.ts'
import {
  ENGLISH_SETS,
  GERMAN_SET,
  halfOf,
  isExpected,
  loadSet,
} from '../../../test/retrieval-corpus/load-set.ts'
import {
  answerFigures,
  byTerms,
  fused,
  indexOf,
  retrievalFigures,
  withoutKin,
} from '../../../test/retrieval-corpus/measure.ts'
import { composeAnswer } from '../../models/builtin/compose-answer.ts'
import { unitLength } from '../../models/static/mean-vector.ts'
import { loadWordVectors } from '../../models/static/word-vectors.ts'
import { createStemmer } from '../../text/languages/stem.ts'
import { analyseQuestion } from './question/analyse-question.ts'
import { rankByTerms } from './ranking/rank-terms.ts'
import { searchTables } from './search-tables.ts'
import { showChunks } from './tables/drop-chunks.ts'
import { createTables, type Tables } from './tables/tables.ts'
import { writeChunk } from './tables/write-chunks.ts'

const words = loadWordVectors()

type Figures = { recall: number; termsRecall: number; offered: number; cited: number; declined: number }

/** All documents of a language are in one index, which is harder than the documents of one company. */
function measure({ chunks, answerable, unanswerable }: Corpus): Figures {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  const sum = { recall: 0, termsRecall: 0, offered: 0, cited: 0, declined: 0 }
  for (const { question, expect } of answerable) {
    const result = searchTables(tables, question, { limit: 6 })
    const answer = composeAnswer({ question, ...result }, words)
    const found = result.passages.map((passage) => passage.headingPath[0])
    sum.recall += found.slice(0, 3).includes(expect) ? 1 : 0
    sum.termsRecall += headingsByTerms(tables, question).includes(expect) ? 1 : 0
    sum.offered += answer.band === 'answer' || answer.band === 'closest' ? 1 : 0
    sum.cited += answer.cited.some((passage) => found[passage] === expect) ? 1 : 0
  }
  for (const { question } of unanswerable) {
    const answer = composeAnswer({ question, ...searchTables(tables, question, { limit: 6 }) }, words)
    sum.declined += answer.band === 'decline' ? 1 : 0
  }
  const share = (count: number): number => count / answerable.length
  return {
    recall: share(sum.recall),
    termsRecall: share(sum.termsRecall),
    offered: share(sum.offered),
    cited: share(sum.cited),
    declined: sum.declined / unanswerable.length,
  }
}

/** Ranks sections by the question's own words only. */
function headingsByTerms(tables: Tables, question: string): (string | undefined)[] {
  const { slots } = rankByTerms(tables, withoutKin(analyseQuestion(question, tables, null)), 3)
  return slots.map((slot) => tables.slots.chunks[slot]!.headingPath[0])
}

function assertAtLeast(figures: Figures, floors: Partial<Figures>): void {
  for (const [name, floor] of Object.entries(floors)) {
    const figure = figures[name as keyof Figures]
    assert.ok(figure >= floor, `${name} is ${figure.toFixed(3)}, at least ${floor} is expected`)
  }
}

test('in English, the fusion finds more than words alone, and the bands are reliable', () => {
  const figures = measure(loadCorpus('en'))
  assert.ok(figures.recall > figures.termsRecall)
  assertAtLeast(figures, { recall: 0.83, offered: 0.9, cited: 0.71, declined: 0.86 })
})

test('in German, compounds are found without vectors, and the bands are reliable', () => {
  const figures = measure(loadCorpus('de'))
  assert.ok(figures.recall > figures.termsRecall)
  assertAtLeast(figures, { recall: 0.9, offered: 0.9, cited: 0.9, declined: 0.9 })
})

test('questions that were not used for tuning', () => {
  assertAtLeast(measure(loadCorpus('en', 'held-out.json')), {
    recall: 0.98,
    offered: 0.92,
    cited: 0.82,
    declined: 0.82,
  })
  assertAtLeast(measure(loadCorpus('de', 'held-out.json')), {
    recall: 1,
    offered: 1,
    cited: 1,
    declined: 1,
  })
})

/**
 * The least number of points of recall@3 that the fusion gains over words alone; the figures are in bench/results.
 */
const GAINS = { 'camper-manual': 0.24, 'staff-handbook': 0.16, 'server-reference': 0.11, [GERMAN_SET]: 0.015 }

test('in long documents, the fusion finds more than words alone, and most questions are answered or declined correctly', () => {
  const sum = { answered: 0, answerable: 0, declined: 0, unanswerable: 0 }
  for (const name of [...ENGLISH_SETS, GERMAN_SET]) {
    const set = loadSet(name)
    const tables = indexOf(set, words)
    const gain = (questions: typeof set.answerable): number =>
      retrievalFigures(tables, questions, fused).recall3 -
      retrievalFigures(tables, questions, byTerms).recall3
    assert.ok(gain(set.answerable) >= GAINS[name], `${name}: ${gain(set.answerable)}`)
    if (name === GERMAN_SET) continue
    assert.ok(gain(halfOf(set.answerable, 'odd')) >= 0, name)
    const { answered, declined } = answerFigures(tables, set, words)
    sum.answered += answered * set.answerable.length
    sum.answerable += set.answerable.length
    sum.declined += declined * set.unanswerable.length
    sum.unanswerable += set.unanswerable.length
  }
  assert.ok(sum.answered / sum.answerable >= 0.8, `answered ${sum.answered / sum.answerable}`)
  assert.ok(sum.declined / sum.unanswerable >= 0.8, `declined ${sum.declined / sum.unanswerable}`)
})

/** Returns vectors of unit length with independent numbers; the same ones at each call. */
function randomVectors(count: number): Float32Array[] {
  let state = 7
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  }
  return Array.from({ length: count }, () => unitLength(Float32Array.from({ length: 256 }, next))!)
}

test('vectors that know nothing hardly change the order, and those that know the passage decide it', () => {
  const set = loadSet('camper-manual')
  const questions = set.answerable
  const random = randomVectors(set.chunks.length + questions.length)
  const tables = indexOf(set, words, random.slice(0, set.chunks.length))
  const noise = new Map(
    questions.map(({ question }, i) => [question, random[set.chunks.length + i]!] as const),
  )
  const near = questions.map((question) => {
    const right = set.chunks.findIndex((chunk) => isExpected(chunk, question))
    const known = random[right]!.map((value, i) => value + noise.get(question.question)![i]!)
    return [question.question, unitLength(known)!] as const
  })
  const byWords = retrievalFigures(tables, questions, fused)
  const byNoise = retrievalFigures(tables, questions, fused, noise)
  assert.ok(byNoise.recall3 >= byWords.recall3 - 0.05, `${byNoise.recall3} instead of ${byWords.recall3}`)
  assert.ok(retrievalFigures(tables, questions, fused, new Map(near)).recall1 >= 0.98)
})
