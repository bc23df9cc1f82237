import type { Dispatcher } from 'undici'
import { boundedFetch } from '../calls/bounded-fetch.ts'
import { limitsOf } from '../calls/call-limits.ts'
import type { Wire } from '../calls/model-call.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { languageModelWire } from './language-model-wire.ts'

/** Returns the wire for the provider of a catalogue entry. */
export async function providerWire(entry: ModelEntry, connections: Dispatcher): Promise<Wire> {
  const { name } = entry
  if (entry.provider === 'openai-compatible') {
    const { compatibleWire } = await import('../openai-compatible/compatible-wire.ts')
    return compatibleWire({ name, baseUrl: entry.baseUrl ?? '', apiKey: entry.apiKey, connections })
  }
  const settings = {
    // The providers' packages fall back to environment variables, so an empty key is passed to state that there is
    // none.
    apiKey: entry.apiKey ?? '',
    ...(entry.baseUrl ? { baseURL: entry.baseUrl } : {}),
    fetch: boundedFetch(connections, limitsOf(entry)),
  }
  switch (entry.provider) {
    case 'openai':
      return languageModelWire((await import('@ai-sdk/openai')).createOpenAI(settings).chat(name))
    case 'openai-responses':
      return languageModelWire((await import('@ai-sdk/openai')).createOpenAI(settings).responses(name))
    case 'anthropic':
      return languageModelWire((await import('@ai-sdk/anthropic')).createAnthropic(settings)(name))
    case 'google':
      return languageModelWire((await import('@ai-sdk/google')).createGoogle(settings)(name))
    case 'builtin':
      throw new Error('The built-in responder has no provider.')
  }
}
