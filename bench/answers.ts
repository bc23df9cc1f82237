import { parseArgs } from 'node:util'
import { Agent } from 'undici'
import { variableEmbedding } from '../server/models/catalogue/embedding-entry.ts'
import { createFolderEmbedder } from '../server/models/folder/folder-embedder.ts'
import { createFolderProcess } from '../server/models/folder/folder-process.ts'
import { loadWordVectors } from '../server/models/static/word-vectors.ts'
import { createEmbedder, type Embedder } from '../server/models/vectors/embedder.ts'
import { type CollectionVectors, idealVectors, modelVectors } from './answers/collection-vectors.ts'
import { factOf } from './answers/fact-of.ts'
import { type LoadedCollection, loadCollections } from './answers/load-collections.ts'
import { type Asked, askCollection } from './answers/measure-answers.ts'

const CONFIDENT = new Set(['answer', 'greeting'])

const SETS = [
  'held-out',
  'fresh',
  'independent',
  'independent-2',
  'companies',
  'companies-2',
  'companies-3',
  'companies-4',
  'companies-5',
  'follow-ups',
  'follow-ups-2',
] as const

const { values: options } = parseArgs({
  options: {
    'held-out': { type: 'boolean' },
    fresh: { type: 'boolean' },
    independent: { type: 'boolean' },
    'independent-2': { type: 'boolean' },
    companies: { type: 'boolean' },
    'companies-2': { type: 'boolean' },
    'companies-3': { type: 'boolean' },
    'companies-4': { type: 'boolean' },
    'companies-5': { type: 'boolean' },
    'follow-ups': { type: 'boolean' },
    'follow-ups-2': { type: 'boolean' },
    language: { type: 'string' },
    ideal: { type: 'boolean' },
    embeddings: { type: 'string' },
    model: { type: 'string' },
    'after-another': { type: 'boolean' },
    all: { type: 'boolean' },
  },
})

/**
 * Measures the answers of the built-in responder on public documents: `node bench/answers.ts [--SET] [--language en]
 * [--ideal | --embeddings …] [--after-another] [--all]` with one of the sets above. With `--ideal`, the search has the
 * vectors of a perfect embedding model. `--embeddings` takes the base URL of a server with OpenAI's API, with the name
 * of its model in `--model` and its key in OPENAI_API_KEY, or a folder with a model. With `--after-another`, each
 * question comes after another one that has nothing to do with it.
 */
async function answersScenario(): Promise<void> {
  const words = loadWordVectors()
  const { language, embeddings } = options
  const collections = await loadCollections(setOf(), language)
  for (const collection of collections) warnOfMissing(collection)
  const model = embeddings ? openModel(embeddings) : null
  const vectorsOf = async (collection: LoadedCollection): Promise<CollectionVectors | null> => {
    if (options.ideal) return idealVectors(collection)
    return model && modelVectors(model.embedder, collection)
  }
  const isAfterAnother = options['after-another'] ?? false
  const asked: Asked[] = []
  for (const collection of collections) {
    const vectors = await vectorsOf(collection)
    asked.push(...(await askCollection(collection, words, { vectors, isAfterAnother })))
  }
  await model?.close()
  if (options.all) for (const one of asked) console.log(lineOf(one))
  console.log(table('collection', asked, (one) => one.collection))
  console.log(table('language', asked, (one) => one.language))
  console.log(table('documents', asked, (one) => one.documents))
  console.log(table('format', asked, (one) => one.format))
  console.log(table('wording', asked, (one) => one.kind))
  console.log(calibration(asked))
}

function openModel(place: string): { embedder: Embedder; close(): Promise<void> } {
  const problems: string[] = []
  const isServer = /^https?:/.test(place)
  const apiKey = process.env.OPENAI_API_KEY ?? null
  const named = isServer
    ? { baseUrl: place, apiKey, embeddingModel: options.model ?? 'default' }
    : { baseUrl: null, apiKey, embeddingModel: null, embeddingFolder: place }
  const entry = variableEmbedding(named, problems)
  if (!entry) throw new Error(problems.join(' '))
  if ('folder' in entry) {
    const running = createFolderProcess(entry)
    return { embedder: createFolderEmbedder(entry, running), close: () => running.close() }
  }
  const connections = new Agent()
  return { embedder: createEmbedder(entry, connections), close: () => connections.close() }
}

function setOf(): string {
  const set = SETS.find((name) => options[name])
  return `${set ?? 'collections'}.json`
}

/** A fact that is in no chunk is an error in the question set or of the extraction. */
function warnOfMissing({ name, chunks, answerable, followUps }: LoadedCollection): void {
  const texts = chunks.map(({ headingPath, text }) => `${headingPath.join(' ')} ${text}`)
  for (const { question, fact } of [...answerable, ...followUps]) {
    if (!texts.some(factOf(fact))) console.log(`${name}: no chunk holds the fact of: ${question}`)
  }
}

const lineOf = ({
  collection,
  kind,
  question,
  band,
  score,
  holds,
  place,
  plainPlace,
  stitched,
  elsewhere,
  text,
}: Asked): string =>
  `\n### ${collection} ${kind} ${band} ${score.toFixed(2)} ${holds ? 'FACT' : '-'}${stitched ? ' STITCHED' : ''}${elsewhere ? ' ELSEWHERE' : ''} at ${place} (plain ${plainPlace}): ${question}\n${text}`

function figuresOf(asked: readonly Asked[]): string[] {
  const answerable = asked.filter(({ kind }) => kind === 'close' || kind === 'typed' || kind === 'paraphrase')
  const without = asked.filter(({ kind }) => kind === 'near' || kind === 'far')
  const of = (list: readonly Asked[], fits: (one: Asked) => boolean): string =>
    list.length === 0 ? '' : (list.filter(fits).length / list.length).toFixed(2)
  const far = asked.filter(({ kind }) => kind === 'far')
  return [
    String(asked.length),
    ...[1, 3, 5].map((k) => of(answerable, ({ place }) => place > 0 && place <= k)),
    ...[1, 3, 5].map((k) => of(answerable, ({ plainPlace }) => plainPlace > 0 && plainPlace <= k)),
    of(answerable, ({ holds }) => holds),
    of(answerable, ({ holds, band }) => holds && CONFIDENT.has(band)),
    of(answerable, ({ holds, band }) => !holds && CONFIDENT.has(band)),
    of(without, ({ band }) => CONFIDENT.has(band)),
    of(far, ({ band }) => band === 'decline'),
    of(
      asked.filter(({ kind }) => kind === 'follow-up'),
      ({ holds }) => holds,
    ),
    of(asked, ({ stitched }) => stitched),
    of(asked, ({ elsewhere }) => elsewhere),
  ]
}

const HEAD =
  'questions | R@1 | R@3 | R@5 | plain R@1 | R@3 | R@5 | fact | fact, confident | confident, no fact | unanswerable, confident | far declined | follow-ups | stitched | citation elsewhere'

function table(name: string, asked: readonly Asked[], by: (one: Asked) => string): string {
  const keys = [...new Set(asked.map(by))]
  const rows = keys.map((key) => [key, ...figuresOf(asked.filter((one) => by(one) === key))])
  rows.push(['all', ...figuresOf(asked)])
  const columns = HEAD.split(' | ').length + 1
  return [
    `| ${name} | ${HEAD} |`,
    `|${' - |'.repeat(columns)}`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

function calibration(asked: readonly Asked[]): string {
  const given = asked.filter(({ band }) => band === 'answer' || band === 'closest' || band === 'decline')
  const bounds = [0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.01]
  return bounds
    .slice(1)
    .map((to, i) => {
      const within = given.filter(({ score }) => score >= bounds[i]! && score < to)
      const held = within.filter(({ holds, place }) => holds || place === 1).length
      return `| ${bounds[i]} to ${to} | ${within.length} | ${within.length ? (held / within.length).toFixed(2) : ''} |`
    })
    .join('\n')
}

if (import.meta.main) await answersScenario()
