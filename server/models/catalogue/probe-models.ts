import { askForText } from '../calls/call-model.ts'
import type { Models } from '../models.ts'
import type { Catalogue } from './catalogue.ts'
import type { EmbeddingEntry } from './embedding-entry.ts'
import { type Asked, answers, type Finding, failing, fails, NONE } from './model-remedy.ts'

const PATIENCE_MS = 60_000
const MOST_TOKENS = 64

/**
 * Sends a small request to each model of the catalogue, the embedding model and the reranker, and returns one finding for
 * each in that order. `storedNumbers` returns the dimensions of the stored vectors of a space, or null if there are none.
 */
export async function probeModels(
  catalogue: Catalogue,
  models: Models,
  storedNumbers: (space: string) => Promise<number | null>,
  { showAddresses = true } = {},
): Promise<Finding[]> {
  const shown = (asked: Asked): Asked => (showAddresses ? asked : { ...asked, url: null })
  const others = catalogue.entries.filter(({ provider }) => provider !== 'builtin')
  const findings = await Promise.all([
    ...others.map((entry) =>
      probe(shown({ what: 'model', name: entry.id, url: entry.baseUrl }), async (asked, signal) => {
        const question = { system: 'You are asked whether you work.', user: 'Answer with the word yes.' }
        await askForText(
          models.resolve(entry.id)!,
          { ...question, maxOutputTokens: MOST_TOKENS, longest: 10_000 },
          signal,
        )
        return answers(asked, entry.id === catalogue.auto ? 'answers, and is what auto means' : 'answers')
      }),
    ),
    ...(catalogue.embedding && models.embedder
      ? [
          probe(shown(embeddingsOf(catalogue.embedding)), (asked, signal) =>
            probeEmbedder(asked, models, storedNumbers, signal),
          ),
        ]
      : []),
    ...(catalogue.reranker && models.reranker
      ? [
          probe(shown({ what: 'reranker', ...nameOf(catalogue.reranker) }), async (asked, signal) => {
            const documents = ['A lamp gives light.', 'A ladder is climbed.']
            const [right, wrong] = await models.reranker!.judge('What gives light?', documents, { signal })
            return right! > wrong!
              ? answers(asked, 'answers')
              : fails(asked, 'puts the wrong document first. Check that it is a reranking model.')
          }),
        ]
      : []),
  ])
  return others.length > 0 ? findings : [NONE, ...findings]
}

const nameOf = ({ name, baseUrl }: { name: string; baseUrl: string }) => ({ name, url: baseUrl })
const embeddingsOf = (entry: EmbeddingEntry): Asked => ({
  what: 'embeddings',
  name: entry.name,
  url: 'folder' in entry ? entry.folder : entry.baseUrl,
})

async function probe(
  asked: Asked,
  ask: (asked: Asked, signal: AbortSignal) => Promise<Finding>,
): Promise<Finding> {
  try {
    return await ask(asked, AbortSignal.timeout(PATIENCE_MS))
  } catch (error) {
    return failing(asked, error)
  }
}

async function probeEmbedder(
  asked: Asked,
  { embedder }: Models,
  storedNumbers: (space: string) => Promise<number | null>,
  signal: AbortSignal,
): Promise<Finding> {
  const [vector] = await embedder!.embed(['A lamp gives light.'], { signal })
  const stored = await storedNumbers(embedder!.space)
  if (stored !== null && stored !== vector!.length)
    return fails(
      asked,
      `makes vectors of ${vector!.length} numbers, but those that are stored have ${stored}. Its server has another model under this name now: start the former one, or give the new one another name.`,
    )
  return answers(asked, `answers with vectors of ${vector!.length} numbers`)
}
