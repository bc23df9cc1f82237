/**
 * Fits the weights of `oddsAt` and, without word vectors, of `reachOf` in
 * server/knowledge/search/ranking/relevance.ts to the questions of bench/answers and test/retrieval-corpus, and prints
 * them: `node scripts/fit-relevance.ts`. It downloads the documents of the bench.
 */

import { factOf } from '../bench/answers/fact-of.ts'
import { type LoadedCollection, loadCollections } from '../bench/answers/load-collections.ts'
import type { IndexedChunk } from '../server/knowledge/search/passage.ts'
import { analyseQuestion } from '../server/knowledge/search/question/analyse-question.ts'
import { gatherEvidence } from '../server/knowledge/search/ranking/gather-evidence.ts'
import { aheadAt, type Evidence } from '../server/knowledge/search/ranking/relevance.ts'
import { searchTables } from '../server/knowledge/search/search-tables.ts'
import { showChunks } from '../server/knowledge/search/tables/drop-chunks.ts'
import { createTables } from '../server/knowledge/search/tables/tables.ts'
import { writeChunk } from '../server/knowledge/search/tables/write-chunks.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createStemmer } from '../server/text/languages/stem.ts'
import { loadCorpus } from '../test/retrieval-corpus/load-corpus.ts'
import { GERMAN_SET, isExpected, loadSet } from '../test/retrieval-corpus/load-set.ts'

const PUBLIC = ['collections', 'held-out', 'fresh', 'independent', 'independent-2']
/** The numbers of chunks in the small indexes that are drawn from each collection. */
const SIZES = [1, 2, 4, 8, 16, 32]
const DRAWS = 3
/** The number of first passages that are judged. It must equal REACHING in search-tables.ts. */
const FIRST = 3
/** The weights of the passages by rank, because it matters most whether the first one is right. */
const WEIGHT_OF_PLACE = [1, 0.5, 0.5]
const STEPS = 10_000
const RATE = 0.05

type Name = keyof Evidence | 'ahead'
type Found = { evidence: Evidence; ahead: number; isRight: boolean }
/** `covered` is null when it cannot be said whether the documents cover the question. */
type Sample = { hasVectors: boolean; covered: boolean | null; found: Found[] }
type Asked = { question: string; isRight: ((chunk: IndexedChunk) => boolean) | null; isFar: boolean }
type Row = { values: number[]; isRight: boolean; weight: number }

const words = loadWordVectors()

function samplesOf(chunks: IndexedChunk[], asked: Asked[]): Sample[] {
  const tables = createTables(words)
  const stem = createStemmer()
  showChunks(
    tables,
    chunks.map((chunk) => writeChunk(tables, chunk, stem)),
  )
  return asked.flatMap(({ question, isRight, isFar }) => {
    const analysed = analyseQuestion(question, tables, null)
    if (analysed.terms.length === 0) return []
    const { candidates } = gatherEvidence(tables, analysed, null)
    const { passages } = searchTables(tables, question, { limit: FIRST })
    const first = passages.flatMap(({ chunkId }) =>
      candidates.filter(({ slot }) => tables.slots.chunks[slot]!.id === chunkId),
    )
    const evidence = first.map((candidate) => candidate.evidence)
    const found = first.map(({ slot }, place) => ({
      evidence: evidence[place]!,
      ahead: aheadAt(place, evidence),
      isRight: isRight?.(tables.slots.chunks[slot]!) ?? false,
    }))
    if (found.length === 0) return []
    const covered = isFar ? false : found.some((one) => one.isRight) ? true : null
    return [{ hasVectors: analysed.vector !== null, covered, found }]
  })
}

const holds =
  (fact: string) =>
  ({ headingPath, text }: IndexedChunk): boolean =>
    factOf(fact)(`${headingPath.join(' ')} ${text}`)

const unanswerable = (questions: readonly string[], isFar: boolean): Asked[] =>
  questions.map((question) => ({ question, isRight: null, isFar }))

function samplesOfWhole({ chunks, answerable, near, far }: LoadedCollection): Sample[] {
  const asked = answerable.map(({ question, fact }) => ({ question, isRight: holds(fact), isFar: false }))
  return samplesOf(chunks, [...asked, ...unanswerable(near, false), ...unanswerable(far, true)])
}

/** Draws small indexes, each with the passage for one of the questions. */
function samplesOfDraws({ chunks, answerable, far }: LoadedCollection): Sample[] {
  let seed = 7
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
  const samples: Sample[] = []
  for (const size of SIZES) {
    for (let draw = 0; draw < DRAWS; draw++) {
      const target = chunks.find(holds(answerable[Math.floor(random() * answerable.length)]!.fact))
      if (!target) continue
      const drawn = new Set([target])
      while (drawn.size < Math.min(size, chunks.length))
        drawn.add(chunks[Math.floor(random() * chunks.length)]!)
      const few = chunks.filter((chunk) => drawn.has(chunk))
      const asked = answerable
        .map(({ question, fact }) => ({ question, isRight: holds(fact), isFar: false }))
        .filter(({ isRight }) => few.some(isRight))
      samples.push(...samplesOf(few, [...asked, ...unanswerable(far, true)]))
    }
  }
  return samples
}

function germanSamples(): Sample[] {
  const { chunks, answerable, unanswerable: none } = loadCorpus('de')
  const corpus = answerable.map(({ question, expect }) => ({
    question,
    isRight: ({ headingPath }: IndexedChunk) => headingPath[0] === expect,
    isFar: false,
  }))
  const farOf = (list: readonly { question: string }[]): Asked[] =>
    unanswerable(
      list.map(({ question }) => question),
      true,
    )
  const set = loadSet(GERMAN_SET)
  const long = set.answerable.map((one) => ({
    question: one.question,
    isRight: (chunk: IndexedChunk) => isExpected(chunk, one),
    isFar: false,
  }))
  return [
    ...samplesOf(chunks, [...corpus, ...farOf(none)]),
    ...samplesOf(set.chunks, [...long, ...farOf(set.unanswerable)]),
  ]
}

const amountOf = ({ evidence, ahead }: Found, name: Name): number =>
  name === 'ahead' ? ahead : (evidence[name] ?? 0)

const valuesOf = (found: Found, names: readonly Name[]): number[] => [
  ...names.map((name) => amountOf(found, name)),
  1,
]

const scoreOf = (values: readonly number[], weights: readonly number[]): number =>
  values.reduce((sum, value, i) => sum + value * weights[i]!, 0)

/** Fits a logistic regression by gradient descent (Adam) on standardised values. The constant is not regularised. */
function fit(rows: readonly Row[], shrink: number): number[] {
  const total = rows.reduce((sum, { weight }) => sum + weight, 0)
  const count = rows[0]!.values.length
  const spread = Array.from({ length: count }, (_, i) => {
    const mean = rows.reduce((sum, { values }) => sum + values[i]!, 0) / rows.length
    return Math.sqrt(rows.reduce((sum, { values }) => sum + (values[i]! - mean) ** 2, 0) / rows.length) || 1
  })
  const weights = new Array<number>(count).fill(0)
  const mean = new Array<number>(count).fill(0)
  const square = new Array<number>(count).fill(0)
  for (let step = 1; step <= STEPS; step++) {
    const gradient = weights.map((weight, i) => (i === count - 1 ? 0 : 2 * shrink * weight * spread[i]!))
    for (const { values, isRight, weight } of rows) {
      const by = (weight / total) * (1 / (1 + Math.exp(-scoreOf(values, weights))) - (isRight ? 1 : 0))
      for (let i = 0; i < count; i++) gradient[i]! += (by * values[i]!) / spread[i]!
    }
    for (let i = 0; i < count; i++) {
      mean[i] = 0.9 * mean[i]! + 0.1 * gradient[i]!
      square[i] = 0.999 * square[i]! + 0.001 * gradient[i]! ** 2
      const size = Math.sqrt(square[i]! / (1 - 0.999 ** step)) + 1e-8
      weights[i]! -= (RATE * mean[i]!) / (1 - 0.9 ** step) / size / spread[i]!
    }
  }
  return weights
}

/** Samples and their total weight. */
type Part = { samples: readonly Sample[]; weight: number }

/** Fits the probability that a passage is right. */
function fitOdds(parts: readonly Part[], names: readonly Name[]): number[] {
  const rows = parts.flatMap(({ samples, weight }) =>
    samples.flatMap(({ found }) =>
      found.map((one, place) => ({
        values: valuesOf(one, names),
        isRight: one.isRight,
        weight: (weight / samples.length) * WEIGHT_OF_PLACE[place]!,
      })),
    ),
  )
  return fit(rows, 0.002)
}

/**
 * Fits the probability that the documents cover a question. Only the passage with the highest score counts for each
 * question. Which one that is depends on the weights, so they are fitted several times.
 */
function fitReach(parts: readonly Part[], names: readonly Name[]): number[] {
  let weights: number[] | null = null
  for (let round = 0; round < 4; round++) {
    const rows = parts.flatMap(({ samples, weight }) => {
      const judged = samples.filter(({ covered }) => covered !== null)
      const inReach = judged.filter(({ covered }) => covered).length
      return judged.map(({ covered, found }) => {
        const all = found.map((one) => valuesOf(one, names))
        const scores = all.map((values) => (weights ? scoreOf(values, weights) : 0))
        return {
          values: all[scores.indexOf(Math.max(...scores))]!,
          isRight: covered!,
          weight: weight / (covered ? inReach : judged.length - inReach),
        }
      })
    })
    weights = fit(rows, 0.001)
  }
  return weights!
}

function print(title: string, names: readonly Name[], weights: readonly number[]): void {
  console.log(title, weights.map((weight, i) => `${weight.toFixed(2)} ${names[i] ?? 'constant'}`).join(', '))
}

/** Prints how many of the first passages are right, for each tenth of the range of estimated probabilities. */
function printCalibration(
  samples: readonly Sample[],
  names: readonly Name[],
  weights: readonly number[],
): void {
  const tenths = Array.from({ length: 10 }, () => ({ right: 0, all: 0 }))
  for (const { found } of samples) {
    const chance = 1 / (1 + Math.exp(-scoreOf(valuesOf(found[0]!, names), weights)))
    const tenth = tenths[Math.min(9, Math.floor(chance * 10))]!
    tenth.all++
    if (found[0]!.isRight) tenth.right++
  }
  const shares = tenths.map(({ right, all }, i) => `0.${i}: ${right} of ${all}`)
  console.log('  right in collections that were not fitted to:', shares.join(', '))
}

/** The weights are fitted to the first companies. The second ones are held out: only the calibration uses them. */
const loaded = await Promise.all(
  [...PUBLIC, 'companies', 'companies-2'].map((set) => loadCollections(`${set}.json`)),
)
const [fitted, others] = loaded.slice(-2) as [LoadedCollection[], LoadedCollection[]]
const inPublic = loaded.slice(0, -2).flat()
const drawn = [...inPublic, ...fitted].flatMap(samplesOfDraws)
const [documentation, ofCompanies, ofOthers] = [inPublic, fitted, others].map((list) =>
  list.flatMap(samplesOfWhole),
) as [Sample[], Sample[], Sample[]]
const german = germanSamples()

const BY_WORDS: Name[] = ['held', 'match', 'rarest', 'kin', 'strangeness', 'words', 'size', 'few', 'ahead']
const BY_VECTORS: Name[] = [
  ...(['held', 'first', 'match', 'strangeness', 'unknownName'] as const),
  ...(['size', 'few', 'meanings', 'ahead', 'kin'] as const),
]
for (const hasVectors of [false, true]) {
  const only = (samples: readonly Sample[]): Sample[] =>
    samples.filter((one) => one.hasVectors === hasVectors)
  const names = hasVectors ? BY_VECTORS : BY_WORDS
  const weights = fitOdds(
    [
      { samples: only(documentation), weight: 2 },
      { samples: only(ofCompanies), weight: 2 },
      { samples: only(drawn), weight: 1 },
    ],
    names,
  )
  print(hasVectors ? 'odds with word vectors:' : 'odds by words:', names, weights)
  printCalibration(only(ofOthers), names, weights)
}
const REACHING: Name[] = [
  'held',
  'match',
  'rarest',
  'headingShare',
  'kin',
  'strangeness',
  'words',
  'size',
  'few',
]
const byWords = (samples: readonly Sample[]): Sample[] => samples.filter(({ hasVectors }) => !hasVectors)
print(
  'reach by words:',
  REACHING,
  fitReach(
    [
      { samples: byWords(documentation), weight: 2 },
      { samples: byWords(ofCompanies), weight: 2 },
      { samples: byWords(drawn), weight: 1.5 },
      { samples: byWords(german), weight: 2 },
    ],
    REACHING,
  ),
)
