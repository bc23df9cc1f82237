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
import {
  type Effort,
  type Family,
  familyOf,
  type Prices,
  pricesOf,
  reasoningAdvised,
} from './known-models.ts'

/** The providers reached over the network. The built-in responder is always available besides them. */
export const providers = ['openai', 'openai-responses', 'openai-compatible', 'anthropic', 'google'] as const

/**
 * The documented APIs of rerankers: `cohere` is that of Cohere (v2), Jina, vLLM and llama.cpp, `tei` that of Text
 * Embeddings Inference.
 */
const rerankApis = ['cohere', 'voyage', 'tei'] as const
export type RerankApi = (typeof rerankApis)[number]

const Milliseconds = Type.Integer({ minimum: 1 })
const Price = Type.Number({ minimum: 0 })
const efforts = ['off', 'minimal', 'low', 'medium', 'high'] as const
const lengthFields = ['max_tokens', 'max_completion_tokens'] as const
export type LengthField = (typeof lengthFields)[number]

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
    Type.Union(
      [
        OneOf([...efforts, 'tags']),
        Type.Integer({ minimum: 1_024, maximum: 128_000, description: 'A budget in tokens' }),
      ],
      {
        description:
          'How much the model thinks before it answers. `tags`: it writes its reasoning before its answer and ends it with a tag like </think>',
      },
    ),
  ),
  temperature: Type.Optional(
    Type.Boolean({
      description: 'false: the temperature of agents is never sent, because the model takes none',
    }),
  ),
  maxTokensField: Type.Optional(
    OneOf(lengthFields, { description: 'What an OpenAI-compatible server calls the length of an answer' }),
  ),
  vision: Type.Optional(Type.Boolean({ description: 'Whether the model sees images' })),
  prices: Type.Optional(
    Exact(
      { input: Price, cached: Type.Optional(Price), output: Price },
      {
        description: 'US dollars for a million tokens read, read from the cache of the provider, and written',
      },
    ),
  ),
  fallbacks: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 5,
      description:
        'The ids of the models that answer, in this order, when this one fails before its first word',
    }),
  ),
  understanding: Type.Optional(
    Type.Union([Type.Boolean(), Type.Integer({ minimum: 100, maximum: 10_000 })], {
      description:
        'Whether a question is read before the search, or the milliseconds that it may take (1,200)',
    }),
  ),
  searches: Type.Optional(
    Type.Boolean({ description: 'Whether the model may search the documents itself while it answers' }),
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
  small: Type.Optional(
    Type.String({
      description: 'The id of the model for titles, summaries, spam, insights and understanding',
    }),
  ),
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
  /** How much it thinks before it answers, in words or tokens; null: as its provider thinks best. */
  reasoning: Effort | number | null
  /** Whether it can be told how much to think. */
  canThink: boolean
  /** Whether it writes its reasoning before its answer, and ends it with a tag such as `</think>`. */
  hasTags: boolean
  /** Whether the temperature of an agent is sent; `chosen`: unless it is 0, which is the default of every agent. */
  temperature: 'sent' | 'chosen' | 'never'
  lengthField: LengthField
  vision: boolean
  /** null if they are not known. */
  prices: Prices | null
  /** The ids of the models that answer when this one fails, in order. */
  fallbacks: string[]
  /** How long the understanding of a question may take, in milliseconds; null where questions are searched as they are. */
  understandingMs: number | null
  /** Whether it may search the documents itself. */
  searches: boolean
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
  /** The model for titles, summaries, spam, insights and the understanding of questions; null: the agent's own. */
  small?: string | null
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
/** Where others can answer, a customer need not wait for one that does not begin. */
const FALLBACK_FIRST_TOKEN_MS = 20_000
const RERANK_TIMEOUT = 2_000
const UNDERSTANDING_MS = 1_200
const ANSWER_TOKENS = 2_000
const THINKING_TOKENS = 14_000
/** What most models are, of which nothing is known. */
const PLAIN = {
  reasoning: null,
  canThink: false,
  hasTags: false,
  temperature: 'sent',
  lengthField: 'max_tokens',
  vision: false,
  prices: null,
  fallbacks: [],
  understandingMs: null,
  searches: false,
} as const
const BUILTIN: ModelEntry = {
  ...PLAIN,
  fallbacks: [],
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
  const { auto, small = null, models, embedding, formerEmbedding, reranker } = checkedFile(file)
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
  if (small !== null && !ids.includes(small))
    problems.push(`MODELS_FILE: small names "${small}", which is no model.`)
  problems.push(...models.flatMap((model) => problemsOf(model, ids)))
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
    small,
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
  const provider = isOpenAi ? 'openai-responses' : model.provider
  const name = model.name ?? model.id
  const family = familyOf(provider, name)
  const contextTokens = model.contextTokens ?? family?.contextTokens ?? 32_000
  const reasoning = reasoningOf(model) ?? reasoningAdvised(provider, name)
  const hasTags = model.reasoning === 'tags'
  const canThink = reasoning !== null || hasTags || family?.thinks === true
  // Providers count the tokens of the reasoning as tokens of the answer.
  const thinksFirst = canThink && reasoning !== 'none' && typeof reasoning !== 'number'
  const { understanding = false } = model
  return {
    id: model.id,
    provider,
    name,
    credits: model.credits ?? 1,
    contextTokens,
    passageTokens: model.passageTokens ?? passageTokensIn(contextTokens),
    maxOutputTokens: model.maxOutputTokens ?? (thinksFirst ? THINKING_TOKENS : 0) + ANSWER_TOKENS,
    baseUrl: model.baseUrl ?? null,
    apiKey,
    reasoning,
    canThink,
    hasTags,
    temperature: temperatureOf(model, family),
    lengthField: model.maxTokensField ?? PLAIN.lengthField,
    vision: model.vision ?? family?.vision ?? PLAIN.vision,
    prices: model.prices ?? pricesOf(provider, name),
    fallbacks: model.fallbacks ?? [],
    understandingMs: understanding === true ? UNDERSTANDING_MS : understanding || null,
    searches: model.searches ?? family?.isStrong ?? PLAIN.searches,
    timeouts: {
      ...TIMEOUTS,
      ...(model.fallbacks?.length ? { firstToken: FALLBACK_FIRST_TOKEN_MS } : {}),
      ...model.timeouts,
    },
  }
}

function reasoningOf({ reasoning }: Static<typeof FileModel>): Effort | number | null {
  if (reasoning === undefined || reasoning === 'tags') return null
  return reasoning === 'off' ? 'none' : reasoning
}

function temperatureOf(
  { temperature }: Static<typeof FileModel>,
  family: Family | null,
): ModelEntry['temperature'] {
  if (temperature !== undefined) return temperature ? 'sent' : 'never'
  return family?.ownTemperature ? 'chosen' : PLAIN.temperature
}

function problemsOf(model: Static<typeof FileModel>, ids: readonly string[]): string[] {
  const { id, provider, reasoning, maxTokensField, fallbacks = [] } = model
  const problems = fallbacks
    .filter((other) => other === id || !ids.includes(other))
    .map((other) =>
      other === id ? `names itself as a fallback` : `has the fallback "${other}", which is no model`,
    )
  if (typeof reasoning === 'number' && provider !== 'anthropic' && provider !== 'google')
    problems.push(
      'has reasoning as a number of tokens, which only anthropic and google take: use low, medium or high',
    )
  if (reasoning === 'tags' && provider !== 'openai-compatible')
    problems.push('has reasoning in tags, which only models of openai-compatible servers write')
  if (maxTokensField !== undefined && provider !== 'openai-compatible')
    problems.push('has maxTokensField, which only openai-compatible servers need')
  return problems.map((problem) => `MODELS_FILE: the model "${id}" ${problem}.`)
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
