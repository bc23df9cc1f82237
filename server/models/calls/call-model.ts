import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { FairPlaces } from '../../fairness/fair-places.ts'
import type { ResolvedModel } from './model-call.ts'
import { type CallOptions, ModelCall, type Part } from './model-call.ts'

/** A question that a short text answers; `longest` in characters. */
type Ask = { system: string; user: string; maxOutputTokens: number; longest: number }

/**
 * Calls a model and gives its parts as they come, all that one read of the network brought in one array, ending with
 * `finish`. Nothing is sent before the first of them is asked for. The times of the catalogue entry hold; a call that
 * fails before its first content is made once more when that can help. Throws ModelFailure for whatever the provider
 * does wrong, when its time is over and when the signal ends it.
 */
export function streamModel(
  model: ResolvedModel,
  options: CallOptions,
  { signal }: { signal: AbortSignal },
): AsyncIterableIterator<Part[], undefined> {
  return new ModelCall(model, options, signal)
}

/**
 * Does what `askForText` does for an account, whose calls leave places to those of others. Waiting for a place counts
 * as part of the call: it ends with the signal.
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

/** What a model says to it as a whole; null when that is longer than it may be. Throws as `streamModel` does. */
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
    for (const part of parts) if (part.type === 'text-delta') text += part.delta
    if (text.length > longest) return null
  }
  return text
}
