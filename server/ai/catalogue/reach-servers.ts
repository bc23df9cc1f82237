import { request } from 'undici'
import type { Embedder } from '../embeddings/embedder.ts'
import { toModelFailure } from '../failures/model-failure.ts'
import type { Catalogue } from './catalogue.ts'
import { isOpenAiItself, OPENAI } from './embedding-entry.ts'
import { withdrawalOf } from './known-models.ts'
import {
  answers,
  type Finding,
  failing,
  fails,
  NO_EMBEDDINGS,
  NONE,
  type ProbedModel,
  wrongKey,
} from './model-remedy.ts'

const PATIENCE_MS = 10_000
/** A large model is loaded from the disk first. */
const OPENING_MS = 60_000
const MAX_LISTED = 5
const BASES = {
  builtin: null,
  openai: OPENAI,
  'openai-responses': OPENAI,
  'openai-compatible': OPENAI,
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
}

type Server = { base: string; headers: Record<string, string>; key: string | null }

/**
 * Checks whether the servers of the `auto` model, the embedding model and the reranker are reachable and accept the key. It
 * only requests their lists of models, which is free of charge. An embedding model in a folder is opened, so that the first
 * question need not wait for it.
 */
export async function reachServers(
  { entries, auto, embedding, reranker }: Catalogue,
  embedder: Embedder | null,
): Promise<Finding[]> {
  const entry = entries.find(({ id }) => id === auto)
  const base = entry && (entry.baseUrl ?? BASES[entry.provider])
  const bearer = (baseUrl: string, key: string | null): Server => ({
    base: baseUrl,
    headers: key ? { authorization: `Bearer ${key}` } : {},
    key,
  })
  const serverOf = (url: string): Server => {
    const key = entry?.apiKey ?? null
    if (key && entry?.provider === 'anthropic')
      return { base: url, headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' }, key }
    if (key && entry?.provider === 'google') return { base: url, headers: { 'x-goog-api-key': key }, key }
    return bearer(url, key)
  }
  const others = entries.filter((one) => one !== entry)
  return Promise.all([
    entry && base
      ? reach({ what: 'model', name: entry.name, url: base }, serverOf(base), entry.provider)
      : NONE,
    // The servers of other models are not asked, because they may be many.
    ...others.flatMap(({ provider, name, baseUrl }) => {
      const withdrawal = withdrawalOf(provider, name)
      return withdrawal ? [fails({ what: 'model', name, url: baseUrl }, withdrawal)] : []
    }),
    ...[
      { what: 'embeddings', one: embedding } as const,
      { what: 'reranker', one: reranker } as const,
    ].flatMap(({ what, one }): (Finding | Promise<Finding>)[] => {
      if (!one) return what === 'embeddings' ? [NO_EMBEDDINGS] : []
      if ('folder' in one) return embedder ? [open({ what, name: one.name, url: one.folder }, embedder)] : []
      const provider = isOpenAiItself(one.baseUrl) ? 'openai' : null
      return [reach({ what, name: one.name, url: one.baseUrl }, bearer(one.baseUrl, one.apiKey), provider)]
    }),
  ])
}

async function open(asked: ProbedModel, embedder: Embedder): Promise<Finding> {
  try {
    await embedder.embed(['A lamp gives light.'], { signal: AbortSignal.timeout(OPENING_MS) })
    return answers(asked, 'runs in a process of this service.')
  } catch (error) {
    return failing(asked, error)
  }
}

async function reach(
  asked: ProbedModel,
  { base, headers, key }: Server,
  provider: string | null,
): Promise<Finding> {
  try {
    const { statusCode, body } = await request(`${base.replace(/\/+$/, '')}/models`, {
      headers,
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const text = await body.text()
    if (statusCode === 401 || statusCode === 403) return wrongKey(asked)
    if (statusCode >= 500) return fails(asked, `has a server that fails (${statusCode}). Look at its log.`)
    const models = statusCode === 200 ? modelsIn(text) : []
    const own = models.find(({ name }) => isSame(name, asked.name))
    const withdrawal = withdrawalOf(provider, asked.name, own?.withdrawn)
    if (withdrawal) return fails(asked, withdrawal)
    if (models.length === 0 || own)
      return answers(asked, 'has a server that is there; npm run parley -- doctor asks it a question.')
    const listed = models
      .slice(0, MAX_LISTED)
      .map(({ name }) => name)
      .join(', ')
    return fails(
      asked,
      `is not in its server's list of models: ${listed}. Correct its name, unless the server takes any.`,
    )
  } catch (error) {
    return failing(asked, toModelFailure(error, [key]))
  }
}

/** Returns the models of a list; OpenAI's also names the day on which it withdraws one. */
function modelsIn(text: string): { name: string; withdrawn: string | null }[] {
  try {
    const { data, models }: Record<string, unknown> = JSON.parse(text)
    const list = Array.isArray(data) ? data : Array.isArray(models) ? models : []
    return list.flatMap((one: { id?: unknown; name?: unknown; shutdown_date?: unknown } | null) => {
      const name = one?.id ?? one?.name
      const day = one?.shutdown_date
      const withdrawn = typeof day === 'string' && /^\d{4}-\d\d-\d\d$/.test(day) ? day : null
      return typeof name === 'string' ? [{ name, withdrawn }] : []
    })
  } catch {
    return []
  }
}

/** Ollama lists a model with a tag, Google with the prefix `models/`. */
const isSame = (listed: string, name: string): boolean =>
  listed === name || listed === `${name}:latest` || listed === `models/${name}`
