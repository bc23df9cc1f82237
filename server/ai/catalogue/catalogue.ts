import { Ajv, type ErrorObject } from 'ajv'
import Type, { type Static } from 'typebox'
import { Exact, OneOf, Subset } from '../../platform/http/contract.ts'
import {
  type EmbeddingEntry,
  type EmbeddingVariables,
  embeddingInFile,
  FileEmbedding,
  isOpenAiItself,
  variableEmbedding,
} from './embedding-entry.ts'

/** The providers reached over the network. The built-in responder is always available besides them. */
export const providers = ['openai', 'openai-responses', 'openai-compatible', 'anthropic', 'google'] as const

/**
 * The documented APIs of rerankers: `cohere` is that of Cohere (v2), Jina, vLLM and llama.cpp, `tei` that of Text
 * Embeddings Inference.
 */
const rerankApis = ['cohere', 'voyage', 'tei'] as const
export type RerankApi = (typeof rerankApis)[number]

const Milliseconds = Type.Integer({ minimum: 1 })

const FileModel = Exact({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  provider: OneOf(providers),
  name: Type.Optional(
    Type.String({ minLength: 1, description: "The provider's name of the model; default: the id" }),
  ),
  credits: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'Per reply; default 1' })),
  contextTokens: Type.Optional(Type.Integer({ minimum: 1_000 })),
  maxOutputTokens: Type.Optional(Type.Integer({ minimum: 1 })),
  passageTokens: Type.Optional(Type.Integer({ minimum: 200 })),
  baseUrl: Type.Optional(Type.String({ pattern: '^https?://' })),
  apiKey: Type.Optional(Type.String({ minLength: 1 })),
  apiKeyEnv: Type.Optional(Type.String({ minLength: 1, description: 'The variable that holds the key' })),
  reasoning: Type.Optional(
    OneOf(['tags'], {
      description: 'The model writes its reasoning before its answer and ends it with a tag like </think>',
    }),
  ),
  timeouts: Type.Optional(
    Subset(Exact({ firstToken: Milliseconds, idle: Milliseconds, total: Milliseconds })),
  ),
})

const FileReranker = Exact({
  name: Type.String({ minLength: 1 }),
  baseUrl: Type.String({ pattern: '^https?://' }),
  apiKey: Type.Optional(Type.String({ minLength: 1 })),
  apiKeyEnv: Type.Optional(Type.String({ minLength: 1 })),
  timeout: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  api: Type.Optional(
    OneOf(rerankApis, {
      description: 'What the server is asked and answers; default cohere, which most have',
    }),
  ),
})

/** The format of MODELS_FILE. */
const ModelsFile = Exact({
  auto: Type.Optional(Type.String({ description: 'The id that `auto` means' })),
  models: Type.Array(FileModel),
  embedding: Type.Optional(FileEmbedding),
  formerEmbedding: Type.Optional(FileEmbedding),
  reranker: Type.Optional(FileReranker),
})

export type ModelEntry = {
  id: string
  provider: (typeof providers)[number] | 'builtin'
  /** The model's name at the provider. */
  name: string
  /** The price of a reply in whole credits. */
  credits: number
  contextTokens: number
  maxOutputTokens: number
  /** The most tokens of passages in a prompt. */
  passageTokens: number
  baseUrl: string | null
  apiKey: string | null
  /** `tags`: the model writes its reasoning before its answer, and ends it with a tag such as `</think>`. */
  reasoning?: 'tags'
  /** Milliseconds. */
  timeouts: { firstToken: number; idle: number; total: number }
}

export type RerankerEntry = {
  name: string
  baseUrl: string
  apiKey: string | null
  /** How long an answer may wait for it, in milliseconds. */
  timeout: number
  api?: RerankApi
}

export type Catalogue = {
  entries: ModelEntry[]
  auto: string
  embedding: EmbeddingEntry | null
  /** The model that embeds questions until all chunks have vectors of `embedding`. */
  formerEmbedding: EmbeddingEntry | null
  /** The model that reranks the passages found. */
  reranker?: RerankerEntry | null
}

/** Thrown when MODELS_FILE or the variables cannot be used, with one sentence per problem. */
export class CatalogueError extends Error {
  override name = 'CatalogueError'
  readonly problems: string[]
  constructor(problems: string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

type OpenAiVariables = EmbeddingVariables & { model: string | null }

/** The model that OPENAI_API_KEY alone configures. */
export const DEFAULT_MODEL = 'gpt-6-luna'
const TIMEOUTS = { firstToken: 60_000, idle: 30_000, total: 300_000 }
const RERANK_TIMEOUT = 2_000
const BUILTIN: ModelEntry = {
  id: 'builtin',
  provider: 'builtin',
  name: 'builtin',
  credits: 1,
  contextTokens: 100_000,
  maxOutputTokens: 4_000,
  passageTokens: 6_000,
  baseUrl: null,
  apiKey: null,
  timeouts: TIMEOUTS,
}

/**
 * Returns the models of the installation: the built-in one, those of MODELS_FILE (its parsed content, or null), and
 * the one that the OPENAI_* variables name, to which `auto` then refers. Throws CatalogueError with all problems.
 */
export function parseCatalogue(
  file: unknown,
  openai: OpenAiVariables,
  env: Record<string, string | undefined>,
): Catalogue {
  const { auto, models, embedding, formerEmbedding, reranker } = checkedFile(file)
  const problems: string[] = []
  const keyOf = (owner: string, entry: { apiKey?: string; apiKeyEnv?: string }): string | null => {
    if (!entry.apiKeyEnv) return entry.apiKey ?? null
    const key = env[entry.apiKeyEnv]
    if (!key) problems.push(`MODELS_FILE: ${owner} takes its key from ${entry.apiKeyEnv}, which is not set.`)
    return key ?? null
  }
  const entries = [BUILTIN, ...models.map((model) => entryOf(model, keyOf(`model "${model.id}"`, model)))]
  const fromVariables = variableModel(openai, file)
  const { baseUrl, model, embeddingModel } = openai
  if (baseUrl && !model && !embeddingModel && !file)
    problems.push('OPENAI_BASE_URL: has no effect without OPENAI_MODEL (or EMBEDDING_MODEL).')
  if (fromVariables) entries.push(fromVariables)
  const ids = entries.map(({ id }) => id)
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index || id === 'auto'))) {
    problems.push(`MODELS_FILE: the model id "${id}" is ${id === 'auto' ? 'reserved' : 'used twice'}.`)
  }
  if (auto !== undefined && !ids.includes(auto))
    problems.push(`MODELS_FILE: auto names "${auto}", which is no model.`)
  const entryIn = (owner: 'embedding' | 'formerEmbedding', given: typeof embedding) =>
    given ? embeddingInFile(owner, given, keyOf(owner, given), problems) : null
  const fromFile = entryIn('embedding', embedding)
  const former = entryIn('formerEmbedding', formerEmbedding)
  const fromVariable = variableEmbedding(openai, problems)
  const reranking = reranker
    ? { ...reranker, apiKey: keyOf('reranker', reranker), timeout: reranker.timeout ?? RERANK_TIMEOUT }
    : null
  if (problems.length > 0) throw new CatalogueError(problems)
  return {
    entries,
    auto: auto ?? fromVariables?.id ?? entries[1]?.id ?? BUILTIN.id,
    embedding: fromFile ?? fromVariable,
    formerEmbedding: former,
    reranker: reranking,
  }
}

function checkedFile(file: unknown): Static<typeof ModelsFile> {
  if (file === null || file === undefined) return { models: [] }
  const check = new Ajv({ allErrors: true, strict: false }).compile<Static<typeof ModelsFile>>(ModelsFile)
  if (check(file)) return file
  throw new CatalogueError((check.errors ?? []).map(sentence))
}

function sentence({ instancePath, message, params, keyword }: ErrorObject): string {
  const place = instancePath.slice(1).replaceAll('/', '.') || 'the file'
  const more = keyword === 'enum' ? `: ${(params.allowedValues).join(', ')}` : ''
  const what = keyword === 'additionalProperties' ? `does not know "${params.additionalProperty}"` : message
  return `MODELS_FILE: ${place} ${what}${more}.`
}

/**
 * Returns how many tokens of passages a model is given. A small window says that the model or its machine is small, too:
 * there, more text costs seconds, and passages that do not matter mislead.
 */
const passageTokensIn = (contextTokens: number): number =>
  Math.floor(Math.min(contextTokens / 4, Math.max(1_500, contextTokens / 16), 6_000))

function entryOf(model: Static<typeof FileModel>, apiKey: string | null): ModelEntry {
  // OpenAI's own models no longer take the parameters that other servers with its API know.
  const isOpenAi = model.provider === 'openai-compatible' && isOpenAiItself(model.baseUrl)
  const contextTokens = model.contextTokens ?? 32_000
  return {
    id: model.id,
    provider: isOpenAi ? 'openai-responses' : model.provider,
    name: model.name ?? model.id,
    credits: model.credits ?? 1,
    contextTokens,
    passageTokens: model.passageTokens ?? passageTokensIn(contextTokens),
    maxOutputTokens: model.maxOutputTokens ?? 2_000,
    baseUrl: model.baseUrl ?? null,
    apiKey,
    ...(model.reasoning ? { reasoning: model.reasoning } : {}),
    timeouts: { ...TIMEOUTS, ...model.timeouts },
  }
}

/** A key alone configures OpenAI's own service. Next to other settings, the key may be meant for those. */
function variableModel(
  { baseUrl, apiKey, model, embeddingModel }: OpenAiVariables,
  file: unknown,
): ModelEntry | null {
  if (!model && apiKey && !baseUrl && !embeddingModel && !file)
    return entryOf({ id: DEFAULT_MODEL, provider: 'openai-responses' }, apiKey)
  if (!model) return null
  return entryOf({ id: model, provider: 'openai-compatible', ...(baseUrl ? { baseUrl } : {}) }, apiKey)
}
