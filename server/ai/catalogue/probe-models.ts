import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { streamModel } from '../calls/call-model.ts'
import type { ResolvedModel } from '../calls/model-call.ts'
import { describeRefused } from '../calls/refused-settings.ts'
import type { Embedder } from '../embeddings/embedder.ts'
import type { Models } from '../models.ts'
import type { Catalogue } from './catalogue.ts'
import type { EmbeddingEntry } from './embedding-entry.ts'
import { withdrawalOf } from './known-models.ts'
import {
  answers,
  type Finding,
  failing,
  fails,
  NO_EMBEDDINGS,
  NONE,
  type ProbedModel,
} from './model-remedy.ts'

const PATIENCE_MS = 60_000
/** A tool with a schema like those of actions. */
const TOOL: LanguageModelV4FunctionTool = {
  type: 'function',
  name: 'report_fault',
  description: 'Only for faults: reports that something does not work.',
  inputSchema: {
    type: 'object',
    properties: {
      what: { type: 'string', minLength: 1, maxLength: 500, description: 'What does not work' },
      email: { type: 'string', format: 'email' },
      severity: { type: 'string', enum: ['low', 'high'] },
    },
    required: ['what'],
    additionalProperties: false,
  },
}

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
  const shown = (asked: ProbedModel): ProbedModel => (showAddresses ? asked : { ...asked, url: null })
  const { embedding, embedder, reranker } = models
  const others = catalogue.entries.filter(({ provider }) => provider !== 'builtin')
  const findings = await Promise.all([
    ...others.map((entry) =>
      probe(shown({ what: 'model', name: entry.id, url: entry.baseUrl }), async (asked, signal) => {
        const model = models.resolve(entry.id)
        if (!model) throw new Error(`The model ${entry.id} is not in the catalogue.`)
        await ask(model, signal)
        const how = ['answers', describeRefused(model.refused)].filter(Boolean).join(' ')
        const isAuto = entry.id === catalogue.auto ? ', and is what auto means' : ''
        const withdrawal = withdrawalOf(entry.provider, entry.name)
        return answers(asked, `${how}${isAuto}${withdrawal ? `, but ${withdrawal}` : '.'}`)
      }),
    ),
    ...(embedding && embedder
      ? [
          probe(shown(embeddingsOf(embedding)), (asked, signal) =>
            probeEmbedder(asked, embedder, storedNumbers, signal),
          ),
        ]
      : [NO_EMBEDDINGS]),
    ...(catalogue.reranker && reranker
      ? [
          probe(shown({ what: 'reranker', ...nameOf(catalogue.reranker) }), async (asked, signal) => {
            const documents = ['A lamp gives light.', 'A ladder is climbed.']
            const [right = 0, wrong = 0] = await reranker.judge('What gives light?', documents, { signal })
            return right > wrong
              ? answers(asked, 'answers.')
              : fails(asked, 'puts the wrong document first. Check that it is a reranking model.')
          }),
        ]
      : []),
  ])
  return others.length > 0 ? findings : [NONE, ...findings]
}

/** Asks a model with the same settings as the request for an answer. */
async function ask(model: ResolvedModel, signal: AbortSignal): Promise<void> {
  const { maxOutputTokens } = model.entry
  const parts = streamModel(
    model,
    {
      prompt: [
        { role: 'system', content: 'You are asked whether you work.' },
        { role: 'user', content: [{ type: 'text', text: 'Answer with the word yes.' }] },
      ],
      temperature: 0,
      maxOutputTokens,
      tools: [TOOL],
      toolChoice: { type: 'auto' },
    },
    { signal },
  )
  for await (const _ of parts);
}

const nameOf = ({ name, baseUrl }: { name: string; baseUrl: string }) => ({ name, url: baseUrl })
const embeddingsOf = (entry: EmbeddingEntry): ProbedModel => ({
  what: 'embeddings',
  name: entry.name,
  url: 'folder' in entry ? entry.folder : entry.baseUrl,
})

async function probe(
  asked: ProbedModel,
  ask: (asked: ProbedModel, signal: AbortSignal) => Promise<Finding>,
): Promise<Finding> {
  try {
    return await ask(asked, AbortSignal.timeout(PATIENCE_MS))
  } catch (error) {
    return failing(asked, error)
  }
}

async function probeEmbedder(
  asked: ProbedModel,
  embedder: Embedder,
  storedNumbers: (space: string) => Promise<number | null>,
  signal: AbortSignal,
): Promise<Finding> {
  const [vector] = await embedder.embed(['A lamp gives light.'], { signal })
  const size = vector?.length ?? 0
  const stored = await storedNumbers(embedder.space)
  if (stored !== null && stored !== size)
    return fails(
      asked,
      `makes vectors of ${size} numbers, but those that are stored have ${stored}. Its server has another model under this name now: start the former one, or give the new one another name.`,
    )
  return answers(asked, `answers with vectors of ${size} numbers.`)
}
