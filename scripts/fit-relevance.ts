/**
 * Fits the weights in server/knowledge/retrieval/relevance.ts to the questions of test/retrieval-corpus (all but those
 * of held-out.json) and prints
 * them, and how well weights fitted to four fifths of the questions do on the last fifth: `node
 * scripts/fit-relevance.ts`.
 */

import { analyseQuestion } from '../server/knowledge/retrieval/analyse-question.ts'
import { showChunks } from '../server/knowledge/retrieval/drop-chunks.ts'
import { gatherEvidence } from '../server/knowledge/retrieval/gather-evidence.ts'
import type { IndexedChunk } from '../server/knowledge/retrieval/passage.ts'
import type { Evidence } from '../server/knowledge/retrieval/relevance.ts'
import { createTables } from '../server/knowledge/retrieval/tables.ts'
import { worstPair } from '../server/knowledge/retrieval/worst-pair.ts'
import { writeChunk } from '../server/knowledge/retrieval/write-chunks.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createStemmer } from '../server/text/stem.ts'
import { loadCorpus } from '../test/retrieval-corpus/load-corpus.ts'
import { ENGLISH_SETS, GERMAN_SET, isExpected, loadSet } from '../test/retrieval-corpus/load-set.ts'

type Name = keyof Evidence | 'pair'
type Weights = Map<Name | 'constant', number>
type Found = { evidence: Evidence; pair: number | null; right: boolean }
/** A question with the evidence for every chunk found; `right` marks those that hold the answer. */
type Sample = { answerable: boolean; found: Found[] }
type Asked = { question: string; right: ((chunk: IndexedChunk) => boolean) | null }

const words = loadWordVectors()
const SHRINK_ORDER = 0.02
const SHRINK_CHANCE = 0.01
const FOLDS = 5
const STEPS = 600
const RATE = 0.05
/** As in search-tables.ts. */
const CONFIDENT = 3

function samplesOf(chunks: IndexedChunk[], asked: Asked[]): Sample[] {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  return asked.map(({ question, right }) => {
    const analysed = analyseQuestion(question, tables, null)
    const { candidates, matcher } = gatherEvidence(tables, analysed, null)
    const found = candidates.map(({ slot, evidence }) => {
      const chunk = tables.slots.chunks[slot]!
      return { evidence, pair: worstPair(chunk, analysed, matcher), right: right?.(chunk) ?? false }
    })
    return { answerable: right !== null, found }
  })
}

function samplesOfSet(name: Parameters<typeof loadSet>[0]): Sample[] {
  const { chunks, answerable, unanswerable } = loadSet(name)
  const asked = answerable.map((question) => ({
    question: question.question,
    right: (chunk: IndexedChunk) => isExpected(chunk, question),
  }))
  const none = unanswerable.map(({ question }) => ({ question, right: null }))
  return samplesOf(chunks, [...asked, ...none])
}

function samplesOfCorpus(language: 'en' | 'de'): Sample[] {
  const { chunks, answerable, unanswerable } = loadCorpus(language)
  const asked = answerable.map(({ question, expect }) => ({
    question,
    right: (chunk: IndexedChunk) => chunk.headingPath[0] === expect,
  }))
  return samplesOf(chunks, [...asked, ...unanswerable.map(({ question }) => ({ question, right: null }))])
}

const amountOf = ({ evidence, pair }: Found, name: Name | 'constant'): number => {
  if (name === 'constant') return 1
  return name === 'pair' ? (pair ?? evidence.match) : (evidence[name] ?? 0)
}

const scoreOf = (found: Found, weights: Weights): number =>
  [...weights].reduce((sum, [name, weight]) => sum + weight * amountOf(found, name), 0)

/** Standard deviation of each kind of evidence, so that all are shrunk alike. */
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

/** Gradient descent (Adam). `slope` adds up the gradient over all samples. */
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
    // Of the standardised evidence; the weights themselves are for the raw one.
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

/** So that the right chunks come before the others of their question. */
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

/** So that the first chunk tells questions with an answer from those without; in each set both weigh the same. */
function fitChance(sets: Sample[][], order: Weights, names: Name[]): Weights {
  const all = sets.flat().length
  const firsts = sets.flatMap((samples) =>
    samples.flatMap((sample) => {
      const alike = samples.filter(({ answerable }) => answerable === sample.answerable).length
      const weight = samples.length / all / 2 / alike
      const [first] = firstOf(sample, order)
      return first ? [{ answerable: sample.answerable, first, weight }] : []
    }),
  )
  const spread = spreadOf(sets.flat(), [...names, 'constant'])
  return fit(spread, SHRINK_CHANCE, (weights, add) => {
    for (const { answerable, first, weight } of firsts) {
      const chance = 1 / (1 + Math.exp(-scoreOf(first, weights)))
      add(first, weight * (chance - (answerable ? 1 : 0)))
    }
  })
}

/** What the constant loses by being moved so that as large a share of both kinds of questions is on its side. */
function shiftOf(samples: Sample[], order: Weights, chance: Weights): number {
  const best = samples.map((sample) => ({
    answerable: sample.answerable,
    odds: Math.max(-9, ...firstOf(sample, order).map((found) => scoreOf(found, chance))),
  }))
  const share = (answerable: boolean, odds: number): number => {
    const own = best.filter((one) => one.answerable === answerable)
    return own.filter((one) => one.odds >= odds === answerable).length / own.length
  }
  const balance = (odds: number): number => Math.min(share(true, odds), share(false, odds))
  return best.map(({ odds }) => odds).reduce((a, b) => (balance(b) > balance(a) ? b : a))
}

function print(title: string, weights: Weights): void {
  console.log(title, [...weights].map(([name, weight]) => `${weight.toFixed(2)} ${name}`).join(' + '))
}

function report(title: string, sets: Sample[][], ordering: Name[], deciding: Name[]): void {
  const samples = sets.flat()
  const order = fitOrder(samples, ordering)
  const chance = fitChance(sets, order, deciding)
  print(`order, ${title}:`, order)
  print(`chance, ${title}:`, chance)
  console.log('both kinds balanced at', shiftOf(samples, order, chance).toFixed(2))
  crossValidate(sets, ordering, deciding)
}

/** Every fifth question is judged with weights fitted to the others. */
function crossValidate(sets: Sample[][], ordering: Name[], deciding: Name[]): void {
  const sums = sets.map(() => ({ found: 0, answered: 0, declined: 0 }))
  for (let fold = 0; fold < FOLDS; fold++) {
    const training = sets.map((samples) => samples.filter((_, i) => i % FOLDS !== fold))
    const order = fitOrder(training.flat(), ordering)
    const chance = fitChance(training, order, deciding)
    const least = shiftOf(training.flat(), order, chance)
    for (const [set, samples] of sets.entries()) {
      const sum = sums[set]!
      for (const sample of samples.filter((_, i) => i % FOLDS === fold)) {
        const firsts = firstOf(sample, order)
        const isAnswered = firsts.some((found) => scoreOf(found, chance) >= least)
        if (sample.answerable && firsts.some(({ right }) => right)) sum.found++
        if (sample.answerable && isAnswered) sum.answered++
        if (!sample.answerable && !isAnswered) sum.declined++
      }
    }
  }
  for (const [set, samples] of sets.entries()) {
    const answerable = samples.filter((sample) => sample.answerable).length
    const share = (count: number, all: number): string => (count / all).toFixed(2)
    const { found, answered, declined } = sums[set]!
    console.log(
      `five-fold: recall@3 ${share(found, answerable)}, answered ${share(answered, answerable)},`,
      `declined ${share(declined, samples.length - answerable)}`,
    )
  }
}

const ORDERING: Name[] = ['terms', 'match', 'heading', 'headingShare']
const DECIDING: Name[] = ['match', 'rarest', 'pair', 'strangeness', 'words', 'size']
report(
  'with word vectors',
  [...ENGLISH_SETS.map(samplesOfSet), samplesOfCorpus('en')],
  [...ORDERING, 'meanings', 'sentence', 'around'],
  [...DECIDING, 'meanings', 'sentence', 'unknownName'],
)
report('words alone', [samplesOfSet(GERMAN_SET), samplesOfCorpus('de')], ORDERING, [
  'match',
  'strangeness',
  'words',
  'size',
])
