import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { FairPlaces } from '../../platform/concurrency/fair-places.ts'
import type { ResolvedModel } from './model-call.ts'
import { type CallOptions, ModelCall, type Part } from './model-call.ts'
import { WAS_REASONING } from './tagged-reasoning.ts'

/** A question with a short text as its answer; `longest` is in characters. */
type Ask = { system: string; user: string; maxOutputTokens: number; longest: number }

/**
 * Calls a model and yields its parts as they arrive, those of one network read in one array, ending with `finish`.
 * Nothing is sent before the first array is requested. The timeouts of the catalogue entry apply, and a call that fails
 * before its first content is retried once if that may help. Throws ModelFailure for any error of the provider, for a
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

/** Returns a model's complete answer; null when it is too long. Throws like `streamModel`. */
export async function askForText(
  model: ResolvedModel,
  { system, user, maxOutputTokens, longest }: Ask,
  signal: AbortSignal,
): Promise<string | null> {
  const prompt: LanguageModelV4Prompt = [
    { role: 'system', content: system },
    { role: 'user', content: [{ type: 'text', text: user }] },
  ]
  let text = ''
  for await (const parts of new ModelCall(model, { prompt, temperature: 0, maxOutputTokens }, signal)) {
    for (const part of parts) {
      if (part.type === 'text-delta') text += part.delta
      else if (part.type === 'raw' && part.rawValue === WAS_REASONING) text = ''
    }
    if (text.length > longest) return null
  }
  return text
}
