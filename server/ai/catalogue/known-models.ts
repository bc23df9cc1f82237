type Provider = 'openai' | 'anthropic' | 'google' | 'cohere' | 'ollama'

/** How much a model thinks before it answers. */
export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high'

/** US dollars for a million tokens read, read from the provider's cache (default: as others), and written. */
export type Prices = { input: number; cached?: number; output: number }

type KnownModel = {
  provider: Provider
  id: string
  /** Absent where the source names no price. */
  prices?: Prices
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
  {
    provider: 'anthropic',
    id: 'claude-sonnet-5-5',
    prices: { input: 2, output: 10 },
    withdrawn: null,
    source: 'https://platform.claude.com/docs/about-claude/models/whats-new-opus-5',
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

/** What the models of a family have in common. What is absent has no source. */
export type Family = {
  provider: Provider
  ids: RegExp
  contextTokens?: number
  vision?: true
  /** Whether they think before they answer, at least if they are told to. */
  thinks?: true
  /** Whether the provider advises against setting the temperature. */
  ownTemperature?: true
  source: string
}

const CLAUDE_5 = 'https://platform.claude.com/docs/about-claude/models/whats-new-opus-5'
const GEMINI_3 = 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/3-5-flash-lite'

/** The first that fits a name describes it. */
const FAMILIES: readonly Family[] = [
  {
    provider: 'openai',
    ids: /^(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*-chat)/,
    vision: true,
    thinks: true,
    source: '@ai-sdk/openai',
  },
  { provider: 'openai', ids: /^gpt-4(?:o|\.1)/, vision: true, source: '@ai-sdk/openai' },
  {
    provider: 'anthropic',
    ids: /^claude-[a-z]+-(?:[5-9]|\d\d)(?:-|$)/,
    contextTokens: 1_000_000,
    vision: true,
    thinks: true,
    source: CLAUDE_5,
  },
  {
    provider: 'anthropic',
    ids: /^claude-[a-z]+-4(?:-|$)/,
    contextTokens: 200_000,
    vision: true,
    thinks: true,
    source: '@ai-sdk/anthropic',
  },
  {
    provider: 'google',
    ids: /^(?:models\/)?gemini-(?:[3-9]|\d\d)/,
    contextTokens: 1_048_576,
    vision: true,
    thinks: true,
    ownTemperature: true,
    source: GEMINI_3,
  },
  {
    provider: 'google',
    ids: /^(?:models\/)?gemini-2\.5/,
    vision: true,
    thinks: true,
    source: '@ai-sdk/google',
  },
]

/** The names of small models, which do worse the more tools they have. */
const SMALL = /-(?:nano|mini|luna|haiku|flash|lite)(?:-|$)/

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

/** Returns the prices of a model; null if they are not known. */
export const pricesOf = (provider: string, name: string): Prices | null =>
  (provider === 'openai-compatible' ? null : knownAs(provider, name)?.prices) ?? null

/** Returns how much a model should think before it answers a customer; null to leave that to its provider. */
export const reasoningAdvised = (provider: string, name: string): Effort | null =>
  (provider === 'openai-compatible' ? null : knownAs(provider, name)?.reasoning) ?? null

/** Returns what is known of the family of a model; null if nothing is. */
export function familyOf(provider: string, name: string): (Family & { isStrong: boolean }) | null {
  if (provider === 'openai-compatible') return null
  const family = FAMILIES.find((one) => isOf(provider, one.provider) && one.ids.test(name))
  return family ? { ...family, isStrong: family.thinks === true && !SMALL.test(name) } : null
}
