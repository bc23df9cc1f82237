/**
 * Fits the weights in server/knowledge/retrieval/relevance.ts on the tuning halves of test/retrieval-corpus and
 * prints them: `node scripts/fit-relevance.ts`. The held-out halves are not read.
 */

import { analyseQuestion } from '../server/knowledge/retrieval/analyse-question.ts'
import { showChunks } from '../server/knowledge/retrieval/drop-chunks.ts'
import { gatherEvidence } from '../server/knowledge/retrieval/gather-evidence.ts'
import type { IndexedChunk } from '../server/knowledge/retrieval/passage.ts'
import type { Evidence } from '../server/knowledge/retrieval/relevance.ts'
import { createTables } from '../server/knowledge/retrieval/tables.ts'
import { writeChunk } from '../server/knowledge/retrieval/write-chunks.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createStemmer } from '../server/text/stem.ts'
import { loadCorpus } from '../test/retrieval-corpus/load-corpus.ts'
import { ENGLISH_SETS, GERMAN_SET, halfOf, isExpected, loadSet } from '../test/retrieval-corpus/load-set.ts'

type Name = keyof Evidence
type Weights = Map<Name | 'constant', number>
/** A question with the evidence for every chunk found; `right` marks those that hold the answer. */
type Sample = { answerable: boolean; found: { evidence: Evidence; right: boolean }[] }
type Asked = { question: string; right: ((chunk: IndexedChunk) => boolean) | null }

const words = loadWordVectors()
const SHRINK_ORDER = 0.02
const SHRINK_CHANCE = 0.002
const STEPS = 2_000
const RATE = 0.05

function samplesOf(chunks: IndexedChunk[], asked: Asked[]): Sample[] {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  return asked.map(({ question, right }) => ({
    answerable: right !== null,
    found: gatherEvidence(tables, analyseQuestion(question, tables, null), null).map(
      ({ slot, evidence }) => ({
        evidence,
        right: right?.(tables.slots.chunks[slot]!) ?? false,
      }),
    ),
  }))
}

function samplesOfSet(name: Parameters<typeof loadSet>[0]): Sample[] {
  const { chunks, answerable, unanswerable } = loadSet(name)
  const asked = halfOf(answerable, 'tuning').map((question) => ({
    question: question.question,
    right: (chunk: IndexedChunk) => isExpected(chunk, question),
  }))
  const none = halfOf(unanswerable, 'tuning').map(({ question }) => ({ question, right: null }))
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

const amountOf = (evidence: Evidence, name: Name | 'constant'): number =>
  name === 'constant' ? 1 : (evidence[name] ?? 0)

const scoreOf = (evidence: Evidence, weights: Weights): number =>
  [...weights].reduce((sum, [name, weight]) => sum + weight * amountOf(evidence, name), 0)

/** Gradient descent (Adam). `slope` adds up the gradient over all samples. */
function fit(
  names: (Name | 'constant')[],
  shrink: number,
  slope: (weights: Weights, add: (evidence: Evidence, by: number) => void) => void,
): Weights {
  const weights: Weights = new Map(names.map((name) => [name, 0]))
  const mean = new Map(weights)
  const square = new Map(weights)
  for (let step = 1; step <= STEPS; step++) {
    const gradient = new Map(
      names.map((name) => [name, name === 'constant' ? 0 : shrink * weights.get(name)!]),
    )
    slope(weights, (evidence, by) => {
      for (const name of names) gradient.set(name, gradient.get(name)! + by * amountOf(evidence, name))
    })
    for (const name of names) {
      mean.set(name, 0.9 * mean.get(name)! + 0.1 * gradient.get(name)!)
      square.set(name, 0.999 * square.get(name)! + 0.001 * gradient.get(name)! ** 2)
      const size = Math.sqrt(square.get(name)! / (1 - 0.999 ** step)) + 1e-8
      weights.set(name, weights.get(name)! - (RATE * mean.get(name)!) / (1 - 0.9 ** step) / size)
    }
  }
  return weights
}

/** So that the right chunks come before the others of their question. */
function fitOrder(samples: Sample[], names: Name[]): Weights {
  const usable = samples.filter(
    ({ found }) => found.some(({ right }) => right) && !found.every(({ right }) => right),
  )
  return fit(names, SHRINK_ORDER, (weights, add) => {
    for (const { found } of usable) {
      const powers = found.map(({ evidence }) => Math.exp(scoreOf(evidence, weights)))
      const all = powers.reduce((sum, power) => sum + power, 0)
      const right = found.reduce((sum, { right }, i) => sum + (right ? powers[i]! : 0), 0)
      found.forEach((chunk, i) => {
        add(chunk.evidence, (powers[i]! / all - (chunk.right ? powers[i]! / right : 0)) / usable.length)
      })
    }
  })
}

/** So that the first chunk tells questions with an answer from those without; both weigh the same. */
function fitChance(samples: Sample[], order: Weights, names: Name[]): Weights {
  const firsts = samples.flatMap(({ answerable, found }) => {
    const [first] = found.toSorted((a, b) => scoreOf(b.evidence, order) - scoreOf(a.evidence, order))
    return first ? [{ answerable, evidence: first.evidence }] : []
  })
  const answerable = firsts.filter((first) => first.answerable).length
  return fit([...names, 'constant'], SHRINK_CHANCE, (weights, add) => {
    for (const first of firsts) {
      const chance = 1 / (1 + Math.exp(-scoreOf(first.evidence, weights)))
      const weight = 0.5 / (first.answerable ? answerable : firsts.length - answerable)
      add(first.evidence, weight * (chance - (first.answerable ? 1 : 0)))
    }
  })
}

function print(title: string, weights: Weights): void {
  console.log(title, [...weights].map(([name, weight]) => `${weight.toFixed(2)} ${name}`).join(' + '))
}

const english = [...ENGLISH_SETS.flatMap(samplesOfSet), ...samplesOfCorpus('en')]
const order = fitOrder(english, ['terms', 'meanings', 'match', 'sentence', 'heading', 'headingShare'])
print('order, with word vectors:', order)
print(
  'chance, with word vectors:',
  fitChance(english, order, ['match', 'rarest', 'meanings', 'sentence', 'strangeness']),
)
const german = [...samplesOfSet(GERMAN_SET), ...samplesOfCorpus('de')]
const plain = fitOrder(german, ['terms', 'match', 'heading', 'headingShare'])
print('order, words alone:', plain)
print('chance, words alone:', fitChance(german, plain, ['match', 'rarest', 'strangeness']))
