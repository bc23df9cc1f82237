import type { JSONSchema7, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { FairPlaces } from '../../platform/concurrency/fair-places.ts'
import { recordOf } from '../../platform/unknown-values.ts'
import { type CallOptions, ModelCall, type Part, type ResolvedModel, WAS_REASONING } from './model-call.ts'

/**
 * A question with a short text as its answer, or JSON of a schema; `longest` is in characters. `maxOutputTokens` is what
 * the text needs.
 */
type Ask = {
  system: string
  user: string
  schema?: JSONSchema7
  maxOutputTokens: number
  longest: number
  /** Receives the text so far, for callers that can use a part of it. */
  noteText?: (text: string) => void
}

/**
 * More tokens for models that think although they are told not to, since they may not be known as such. A text that is
 * too long ends earlier.
 */
const THINKING_TOKENS = 2_000

/**
 * Calls a model and yields its parts as they arrive, those of one network read in one array, ending with `finish`.
 * Nothing is sent before the first array is requested. The timeouts of the catalogue entry apply, and a call that fails
 * before its first content is retried if that may help. Throws ModelFailure for any error of the provider, for a
 * timeout, and when the signal aborts the call.
 */
export function streamModel(
  model: ResolvedModel,
  options: CallOptions,
  { signal }: { signal: AbortSignal },
): AsyncIterableIterator<Part[], undefined> {
  return new ModelCall(model, options, signal)
}

/**
 * Does the same as `askForText` on behalf of an account, whose calls share the places fairly with those of other
 * accounts. Waiting for a place is part of the call and ends with the signal.
 */
export async function askForAccount(
  places: FairPlaces,
  accountId: string,
  model: ResolvedModel,
  ask: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const leave = await places.enter(accountId, signal)
  try {
    return await askForText(model, ask, signal)
  } finally {
    leave()
  }
}

const promptOf = (system: string, user: string): LanguageModelV4Prompt => [
  { role: 'system', content: system },
  { role: 'user', content: [{ type: 'text', text: user }] },
]

/** Returns a model's complete answer, with as little reasoning as it can; null when it is too long. Throws like `streamModel`. */
export async function askForText(
  model: ResolvedModel,
  { system, user, schema, maxOutputTokens, longest, noteText }: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const options: CallOptions = {
    prompt: promptOf(system, user),
    temperature: 0,
    reasoning: 'none',
    maxOutputTokens: maxOutputTokens + THINKING_TOKENS,
    ...(schema ? { responseFormat: { type: 'json', schema, name: 'answer' } } : {}),
  }
  let text = ''
  for await (const parts of new ModelCall(model, options, signal)) {
    for (const part of parts) {
      if (part.type === 'text-delta') text += part.delta
      else if (part.type === 'raw' && part.rawValue === WAS_REASONING) text = ''
    }
    if (text.length > longest) return null
    noteText?.(text)
  }
  return text
}

/** Returns the schema of an object that has all of these members and no other, as strict providers want it. */
export const objectOf = (properties: Record<string, JSONSchema7>): JSONSchema7 => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

/**
 * Parses the answer to a request with a schema. Servers that do not know schemas may put a code fence around it; null for
 * anything else than one object.
 */
export function jsonAnswer(text: string): Record<string, unknown> | null {
  const [from, to] = [text.indexOf('{'), text.lastIndexOf('}')]
  const around = from < 0 ? text : text.slice(0, from) + text.slice(to + 1)
  if (from < 0 || /[^\s`]/.test(around.replace(/json/i, ''))) return null
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? recordOf(value) : null
  } catch {
    return null
  }
}
