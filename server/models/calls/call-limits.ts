import type { ModelEntry } from '../catalogue/catalogue.ts'

/**
 * What one answer may be at most, whatever a provider sends. Models are told `maxOutputTokens`; these bounds are
 * so generous that only a provider that does not keep to it, or that is broken, runs into them.
 */
export type CallLimits = {
  /** Characters of the answer's text, and of its thinking. */
  text: number
  /** Characters of the inputs of all calls of tools. */
  toolInput: number
  /** Bytes of one line, and of one event, of the stream. */
  line: number
  /** Bytes of the whole body. */
  body: number
}

/** A token stands for some four characters in European languages. */
const CHARACTERS_PER_TOKEN = 8
const MORE_CHARACTERS = 4_000
const TOOL_INPUT = 256_000
/** A token's event is some 300 bytes; with the marks of a content filter, or the thinking said twice, 1,000. */
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
