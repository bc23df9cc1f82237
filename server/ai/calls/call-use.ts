import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { ModelEntry } from '../catalogue/catalogue.ts'

/** What a call of a model is for: an answer to a customer, or a side call. */
export const PURPOSES = [
  'answer',
  'title',
  'summary',
  'understanding',
  'spam',
  'insights',
  'playground',
  'tests',
] as const
export type Purpose = (typeof PURPOSES)[number]

/** The tokens of a call; null: not known. */
export type Tokens = {
  inputTokens: number | null
  /** Those of the input that came from the provider's cache. */
  cachedTokens?: number | null
  outputTokens: number | null
  /** Those of the output that were reasoning. */
  reasoningTokens?: number | null
}

export const NO_TOKENS: Tokens = {
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  reasoningTokens: null,
}

export const tokensOf = ({ inputTokens, outputTokens }: LanguageModelV4Usage): Tokens => ({
  inputTokens: inputTokens.total ?? null,
  cachedTokens: inputTokens.cacheRead ?? null,
  outputTokens: outputTokens.total ?? null,
  reasoningTokens: outputTokens.reasoning ?? null,
})

const MILLION = 1_000_000

/** Returns what a call cost in US dollars, by the prices of the catalogue; null if they or the tokens are not known. */
export function dollarsOf(
  { inputTokens, cachedTokens, outputTokens }: Tokens,
  prices: ModelEntry['prices'],
): number | null {
  if (!prices || inputTokens === null || outputTokens === null) return null
  const cached = cachedTokens ?? 0
  const { input, output, cached: ofCached = input } = prices
  return ((inputTokens - cached) * input + cached * ofCached + outputTokens * output) / MILLION
}

/** What a call counts for. */
export type ModelUse = {
  model: string
  calls: number
  inputTokens: number
  cachedTokens: number
  outputTokens: number
  reasoningTokens: number
  dollars: number | null
}

export const modelUseOf = ({ id, prices }: Pick<ModelEntry, 'id' | 'prices'>, tokens: Tokens): ModelUse => ({
  model: id,
  calls: 1,
  inputTokens: tokens.inputTokens ?? 0,
  cachedTokens: tokens.cachedTokens ?? 0,
  outputTokens: tokens.outputTokens ?? 0,
  reasoningTokens: tokens.reasoningTokens ?? 0,
  dollars: dollarsOf(tokens, prices),
})
