type Provider = 'openai' | 'anthropic' | 'google' | 'cohere' | 'ollama'

type KnownModel = {
  provider: Provider
  id: string
  /** US dollars for a million tokens read and written; absent where the source names no price. */
  prices?: { input: number; output: number }
  /** The day on which the provider withdraws it; null where the source announces none. */
  withdrawn: string | null
  /** What the provider recommends in its place. */
  replacement?: string
  /** `none` turns off the reasoning of models that need none: customers wait for it, and it shortens the answer. */
  reasoning?: 'none'
  source: string
}

/** The day on which the sources of this file were read. */
export const SOURCES_READ = '2026-11-28'

const OPENAI_ENDS = 'https://developers.openai.com/api/docs/deprecations'
const GOOGLE_ENDS = 'https://ai.google.dev/gemini-api/docs/deprecations'
const OLLAMA = 'https://ollama.com/library'

/**
 * The hosted models that the defaults and the documentation name, and those of them that are, or were, withdrawn. What
 * has no source is not listed.
 */
export const KNOWN_MODELS: readonly KnownModel[] = [
  {
    provider: 'openai',
    id: 'gpt-6-luna',
    prices: { input: 0.1, output: 0.5 },
    withdrawn: null,
    reasoning: 'none',
    source: 'https://developers.openai.com/api/docs/models/gpt-6-luna',
  },
  {
    provider: 'openai',
    id: 'text-embedding-3-small',
    prices: { input: 0.02, output: 0 },
    withdrawn: null,
    source:
      'https://developers.openai.com/api/docs/models/text-embedding-3-small, as https://tokenprice.fyi/models/text-embedding-3-small read it on 2026-07-03',
  },
  {
    provider: 'anthropic',
    id: 'claude-haiku-5-5',
    prices: { input: 0.1, output: 0.5 },
    withdrawn: null,
    reasoning: 'none',
    source: 'https://platform.claude.com/docs/en/models/haiku-5-5/overview',
  },
  { provider: 'google', id: 'gemini-3.5-flash-lite', withdrawn: null, source: GOOGLE_ENDS },
  {
    provider: 'cohere',
    id: 'rerank-v5.0-fast',
    withdrawn: null,
    source: 'https://docs.cohere.com/changelog/rerank-v5',
  },
  { provider: 'ollama', id: 'llama3.1', withdrawn: null, source: `${OLLAMA}/llama3.1` },
  { provider: 'ollama', id: 'nomic-embed-text', withdrawn: null, source: `${OLLAMA}/nomic-embed-text` },
  {
    provider: 'openai',
    id: 'gpt-5',
    withdrawn: '2026-12-11',
    replacement: 'gpt-6.1-sol',
    source: OPENAI_ENDS,
  },
  {
    provider: 'openai',
    id: 'gpt-5-mini',
    withdrawn: '2026-12-11',
    replacement: 'gpt-6.1-terra',
    source: OPENAI_ENDS,
  },
  {
    provider: 'anthropic',
    id: 'claude-sonnet-4-5',
    withdrawn: '2026-11-30',
    replacement: 'claude-sonnet-5-5',
    source: 'https://platform.claude.com/docs/en/models/sonnet-4-5/overview',
  },
  {
    provider: 'google',
    id: 'gemini-2.5-flash',
    withdrawn: '2026-12-01',
    replacement: 'gemini-3.5-flash-lite',
    source: `${GOOGLE_ENDS}, as https://dev.to/aideprecations read it on 2026-11-10`,
  },
]

/** The models whose provider advises against setting the temperature. */
const OWN_TEMPERATURE: readonly { provider: Provider; ids: RegExp; source: string }[] = [
  {
    provider: 'google',
    ids: /^(?:models\/)?gemini-3/,
    source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/start/gemini-3-prompting-guide',
  },
]

const isOf = (provider: string, one: Provider): boolean => provider.split('-')[0] === one

const knownAs = (provider: string, name: string): KnownModel | undefined =>
  KNOWN_MODELS.find(
    (known) => isOf(provider, known.provider) && (name === known.id || name.startsWith(`${known.id}-20`)),
  )

/**
 * Says when the provider withdraws a model, or null if that is not known; `listed` is the day in the server's list of
 * models. What a compatible server calls by the same name may be another model, or served for longer.
 */
export function withdrawalOf(
  provider: string | null,
  name: string,
  listed: string | null = null,
): string | null {
  const known = provider === null || provider === 'openai-compatible' ? undefined : knownAs(provider, name)
  const day = listed ?? known?.withdrawn
  if (!day) return null
  const instead = known?.replacement ? ` The provider recommends ${known.replacement}.` : ''
  return `is withdrawn by its provider on ${day}: use another model from that day on.${instead}`
}

/** Returns the price in US dollars for a million input tokens; null if it is not known. */
export const inputPriceOf = (provider: Provider, name: string): number | null =>
  knownAs(provider, name)?.prices?.input ?? null

/** Returns what the provider advises for a model: whether to turn off reasoning, and not to set the temperature. */
export function adviceFor(provider: string, name: string): { reasoning?: 'none'; ownTemperature: boolean } {
  const known = knownAs(provider, name)
  return {
    ...(known?.reasoning ? { reasoning: known.reasoning } : {}),
    ownTemperature: OWN_TEMPERATURE.some((row) => isOf(provider, row.provider) && row.ids.test(name)),
  }
}
