/**
 * Fits the weights in server/knowledge/search/ranking/relevance.ts to the questions of test/retrieval-corpus (all but those
 * of held-out.json) and prints
 * them, and how well weights fitted to four fifths of the questions do on the last fifth: `node
 * scripts/fit-relevance.ts`.
 */

import type { IndexedChunk } from '../server/knowledge/search/passage.ts'
import { analyseQuestion } from '../server/knowledge/search/question/analyse-question.ts'
import { gatherEvidence } from '../server/knowledge/search/ranking/gather-evidence.ts'
import type { Evidence } from '../server/knowledge/search/ranking/relevance.ts'
import { worstPair } from '../server/knowledge/search/ranking/worst-pair.ts'
import { showChunks } from '../server/knowledge/search/tables/drop-chunks.ts'
import { createTables } from '../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../server/knowledge/search/tables/write-chunks.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createStemmer } from '../server/text/languages/stem.ts'
import { loadCorpus } from '../test/retrieval-corpus/load-corpus.ts'
import { ENGLISH_SETS, GERMAN_SET, isExpected, loadSet } from '../test/retrieval-corpus/load-set.ts'

type Name = keyof Evidence | 'pair'
type Weights = Map<Name | 'constant', number>
type Found = { evidence: Evidence; pair: number | null; right: boolean }
/** A question with the evidence for every chunk found; `right` marks those that contain the answer. */
type Sample = { answerable: boolean; found: Found[] }
type Asked = { question: string; right: ((chunk: IndexedChunk) => boolean) | null }

const words = loadWordVectors()
const SHRINK_ORDER = 0.02
const SHRINK_CHANCE = 0.01
const STEPS = 600
const RATE = 0.05
/** As in search-tables.ts. */
const CONFIDENT = 3

function samplesOf(chunks: IndexedChunk[], asked: Asked[], byWords: boolean): Sample[] {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  return asked.map(({ question, right }) => {
    const told = analyseQuestion(question, tables, null)
    const analysed = byWords ? { ...told, vector: null } : told
    const { candidates, matcher } = gatherEvidence(tables, analysed, null)
    const found = candidates.map(({ slot, evidence }) => {
      const chunk = tables.slots.chunks[slot]!
      return { evidence, pair: worstPair(chunk, analysed, matcher), right: right?.(chunk) ?? false }
    })
    return { answerable: right !== null, found }
  })
}

function samplesOfSet(name: Parameters<typeof loadSet>[0], byWords: boolean, unseen: boolean): Sample[] {
  const { chunks, answerable, unanswerable } = loadSet(name, { unseen })
  const asked = answerable.map((question) => ({
    question: question.question,
    right: (chunk: IndexedChunk) => isExpected(chunk, question),
  }))
  const none = unanswerable.map(({ question }) => ({ question, right: null }))
  return samplesOf(chunks, [...asked, ...none], byWords)
}

function samplesOfCorpus(language: 'en' | 'de', byWords: boolean): Sample[] {
  const { chunks, answerable, unanswerable } = loadCorpus(language)
  const asked = answerable.map(({ question, expect }) => ({
    question,
    right: (chunk: IndexedChunk) => chunk.headingPath[0] === expect,
  }))
  const none = unanswerable.map(({ question }) => ({ question, right: null }))
  return samplesOf(chunks, [...asked, ...none], byWords)
}

const amountOf = ({ evidence, pair }: Found, name: Name | 'constant'): number => {
  if (name === 'constant') return 1
  return name === 'pair' ? (pair ?? evidence.match) : (evidence[name] ?? 0)
}

const scoreOf = (found: Found, weights: Weights): number =>
  [...weights].reduce((sum, [name, weight]) => sum + weight * amountOf(found, name), 0)

/** The standard deviation of each kind of evidence, so that all are regularised alike. */
function spreadOf(samples: Sample[], names: readonly (Name | 'constant')[]): Weights {
  const all = samples.flatMap(({ found }) => found)
  return new Map(
    names.map((name) => {
      const amounts = all.map((found) => amountOf(found, name))
      const mean = amounts.reduce((sum, amount) => sum + amount, 0) / all.length
      return [
        name,
        Math.sqrt(amounts.reduce((sum, amount) => sum + (amount - mean) ** 2, 0) / all.length) || 1,
      ]
    }),
  )
}

/** Minimises by gradient descent (Adam). `slope` adds up the gradient over all samples. */
function fit(
  spread: Weights,
  shrink: number,
  slope: (weights: Weights, add: (found: Found, by: number) => void) => void,
): Weights {
  const names = [...spread.keys()]
  const weights: Weights = new Map(names.map((name) => [name, 0]))
  const mean = new Map(weights)
  const square = new Map(weights)
  for (let step = 1; step <= STEPS; step++) {
    // These weights apply to the standardised evidence; the printed ones apply to the raw evidence.
    const gradient = new Map(
      names.map((name) => [name, name === 'constant' ? 0 : shrink * weights.get(name)! * spread.get(name)!]),
    )
    slope(weights, (found, by) => {
      for (const name of names) {
        gradient.set(name, gradient.get(name)! + (by * amountOf(found, name)) / spread.get(name)!)
      }
    })
    for (const name of names) {
      mean.set(name, 0.9 * mean.get(name)! + 0.1 * gradient.get(name)!)
      square.set(name, 0.999 * square.get(name)! + 0.001 * gradient.get(name)! ** 2)
      const size = Math.sqrt(square.get(name)! / (1 - 0.999 ** step)) + 1e-8
      const move = (RATE * mean.get(name)!) / (1 - 0.9 ** step) / size
      weights.set(name, weights.get(name)! - move / spread.get(name)!)
    }
  }
  return weights
}

/** Fits the weights so that the right chunks are ranked before the others of their question. */
function fitOrder(samples: Sample[], names: Name[]): Weights {
  const usable = samples.filter(
    ({ found }) => found.some(({ right }) => right) && !found.every(({ right }) => right),
  )
  return fit(spreadOf(samples, names), SHRINK_ORDER, (weights, add) => {
    for (const { found } of usable) {
      const powers = found.map((chunk) => Math.exp(scoreOf(chunk, weights)))
      const all = powers.reduce((sum, power) => sum + power, 0)
      const right = found.reduce((sum, { right }, i) => sum + (right ? powers[i]! : 0), 0)
      for (const [i, chunk] of found.entries()) {
        add(chunk, (powers[i]! / all - (chunk.right ? powers[i]! / right : 0)) / usable.length)
      }
    }
  })
}

const firstOf = ({ found }: Sample, order: Weights): Found[] =>
  found.toSorted((a, b) => scoreOf(b, order) - scoreOf(a, order)).slice(0, CONFIDENT)

/**
 * Fits the weights so that the score of a passage among the first is the probability that it is right; each set has
 * the same weight.
 */
function fitChance(sets: Sample[][], order: Weights, names: Name[]): Weights {
  const shown = sets.flatMap((samples) => {
    const first = samples.flatMap((sample) => firstOf(sample, order))
    return first.map((found) => ({ found, weight: 1 / first.length / sets.length }))
  })
  const spread = spreadOf(sets.flat(), [...names, 'constant'])
  return fit(spread, SHRINK_CHANCE, (weights, add) => {
    for (const { found, weight } of shown) {
      const chance = 1 / (1 + Math.exp(-scoreOf(found, weights)))
      add(found, weight * (chance - (found.right ? 1 : 0)))
    }
  })
}

function print(title: string, weights: Weights): void {
  console.log(title, [...weights].map(([name, weight]) => `${weight.toFixed(2)} ${name}`).join(' + '))
}

type Judged = { chance: number; right: boolean; answerable: boolean; found: boolean }

/** Evaluates the first passage for each question with weights fitted to the other sets. */
function judge(samples: Sample[], order: Weights, chance: Weights): Judged[] {
  return samples.flatMap((sample) => {
    const firsts = firstOf(sample, order)
    const [first] = firsts
    if (!first) return []
    const found = firsts.some(({ right }) => right)
    const odds = scoreOf(first, chance)
    return [{ chance: 1 / (1 + Math.exp(-odds)), right: first.right, answerable: sample.answerable, found }]
  })
}

function report(title: string, sets: Sample[][], ordering: Name[], deciding: Name[]): void {
  const order = fitOrder(sets.flat(), ordering)
  print(`order, ${title}:`, order)
  print(`chance, ${title}:`, fitChance(sets, order, deciding))
  const judged = sets.map((own, i) => {
    const others = sets.filter((_, other) => other !== i)
    const without = fitOrder(others.flat(), ordering)
    return judge(own, without, fitChance(others, without, deciding))
  })
  for (const own of judged) {
    const answerable = own.filter((one) => one.answerable)
    const share = (list: Judged[], fits: (one: Judged) => boolean): string =>
      (list.filter(fits).length / (list.length || 1)).toFixed(2)
    console.log(
      `left out: recall@1 ${share(answerable, ({ right }) => right)}, recall@3 ${share(answerable, ({ found }) => found)},`,
      `confident and wrong ${share(answerable, ({ chance, right }) => chance >= CONFIDENT_FROM && !right)},`,
      `confident and right ${share(answerable, ({ chance, right }) => chance >= CONFIDENT_FROM && right)},`,
      `unanswerable, confident ${share(
        own.filter((one) => !one.answerable),
        ({ chance }) => chance >= CONFIDENT_FROM,
      )}`,
    )
  }
  const all = judged.flat()
  for (let from = 0; from < 1; from += 0.1) {
    const within = all.filter(({ chance }) => chance >= from && chance < from + 0.1)
    const right = within.filter((one) => one.right).length / (within.length || 1)
    console.log(`said ${from.toFixed(1)}: right ${right.toFixed(2)} of ${within.length}`)
  }
}

const CONFIDENT_FROM = 0.7

const load = (byWords: boolean): Sample[][] => [
  ...(byWords ? [...ENGLISH_SETS, GERMAN_SET] : ENGLISH_SETS).flatMap((name) => [
    samplesOfSet(name, byWords, false),
    samplesOfSet(name, byWords, true),
  ]),
  samplesOfCorpus('en', byWords),
  ...(byWords ? [samplesOfCorpus('de', true)] : []),
]
const ORDERING: Name[] = ['terms', 'held', 'first', 'near', 'spelled', 'match', 'heading', 'headingShare']
const DECIDING: Name[] = [
  'terms',
  'held',
  'first',
  'match',
  'rarest',
  'pair',
  'heading',
  'headingShare',
  'strangeness',
  'words',
]
report(
  'with word vectors',
  load(false),
  [...ORDERING, 'meanings', 'sentence', 'around'],
  [...DECIDING, 'meanings', 'sentence', 'unknownName'],
)
report('words alone', load(true), ORDERING, DECIDING)
