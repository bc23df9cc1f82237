import { DENSE } from './dense-script.ts'

/** The number of characters per token of other text. */
const CHARACTERS_PER_TOKEN = 3.5

/**
 * Returns about how many tokens a model needs for a text, which is enough to stay inside a context window. It reads
 * scripts without spaces nearly one character at a time.
 */
export function estimateTokens(text: string): number {
  const dense = (text.match(DENSE) ?? []).reduce((sum, run) => sum + run.length, 0)
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_PER_TOKEN)
}
