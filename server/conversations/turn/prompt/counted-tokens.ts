import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { estimateTokens } from '../../../platform/text/languages/language.ts'
import { metadataOf } from '../../records/present.ts'
import type { TranscriptMessage } from '../../records/queries.ts'

/** A server that counts less than this does not count what it has read from its cache. */
const LEAST = 0.5
const MOST = 10
/** The beginning of a prompt must not move with every message, so the ratio has steps. */
const STEPS = 4

/**
 * Returns how many tokens a provider counts for each that is estimated, given what it has counted for a whole request;
 * null if that tells nothing, as with pictures, whose tokens are not those of a text.
 */
export function tokenRatio(
  { prompt, tools = [] }: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
  counted: number | null,
): number | null {
  const hasFile = prompt.some(({ role, content }) => role === 'user' && content.some(isFile))
  if (counted === null || hasFile) return null
  const ratio = counted / estimateTokens(JSON.stringify([prompt, tools]))
  return ratio < LEAST ? null : Math.min(MOST, Math.ceil(ratio * STEPS) / STEPS)
}

const isFile = ({ type }: { type: string }): boolean => type === 'file'

/** Returns the ratio that the newest answer of a model has shown for this conversation; 1 if none has. */
export const ratioIn = (transcript: readonly TranscriptMessage[], modelId: string): number =>
  transcript
    .map(metadataOf)
    .findLast(({ model, tokenRatio: known }) => model === modelId && known !== undefined)?.tokenRatio ?? 1
