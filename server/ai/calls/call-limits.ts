import type { ModelEntry } from '../catalogue/catalogue.ts'

/**
 * The upper limits of one answer, whatever a provider sends. Models are told `maxOutputTokens`; these limits are so
 * generous that only a provider that ignores it, or that is broken, exceeds them.
 */
export type CallLimits = {
  /** Characters of the answer's text, and of its reasoning. */
  text: number
  /** Characters of the inputs of all tool calls. */
  toolInput: number
  /** Bytes of one line or one event of the stream. */
  line: number
  /** Bytes of the whole body. */
  body: number
}

/** In European languages, a token stands for about four characters. */
const CHARACTERS_PER_TOKEN = 8
const MORE_CHARACTERS = 4_000
const TOOL_INPUT = 256_000
/**
 * An event for one token takes about 300 bytes, or 1,000 with annotations of a content filter or with repeated
 * reasoning.
 */
const BYTES_PER_TOKEN = 2_048
const MORE_BYTES = 4 * 1024 * 1024
const LINE = 1024 * 1024

export function limitsOf({ maxOutputTokens }: Pick<ModelEntry, 'maxOutputTokens'>): CallLimits {
  const text = maxOutputTokens * CHARACTERS_PER_TOKEN + MORE_CHARACTERS
  return {
    text,
    toolInput: Math.max(text, TOOL_INPUT),
    // A provider may repeat the whole answer in its last event.
    line: LINE + 4 * text,
    body: maxOutputTokens * BYTES_PER_TOKEN + MORE_BYTES,
  }
}
