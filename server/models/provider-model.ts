import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Dispatcher } from 'undici'
import type { ModelEntry } from './catalogue.ts'

/** The model of a catalogue entry over its provider's wire. */
export async function providerModel(entry: ModelEntry, connections: Dispatcher): Promise<LanguageModelV4> {
  const { name } = entry
  const settings = {
    // The providers' packages fall back to variables of the environment; an empty key says that there is none.
    apiKey: entry.apiKey ?? '',
    ...(entry.baseUrl ? { baseURL: entry.baseUrl } : {}),
  }
  switch (entry.provider) {
    case 'openai':
      return (await import('@ai-sdk/openai')).createOpenAI(settings).chat(name)
    case 'openai-responses':
      return (await import('@ai-sdk/openai')).createOpenAI(settings).responses(name)
    case 'anthropic':
      return (await import('@ai-sdk/anthropic')).createAnthropic(settings)(name)
    case 'google':
      return (await import('@ai-sdk/google')).createGoogle(settings)(name)
    case 'openai-compatible': {
      const { createCompatibleModel } = await import('./openai-compatible/compatible-model.ts')
      return createCompatibleModel({ name, baseUrl: entry.baseUrl ?? '', apiKey: entry.apiKey, connections })
    }
    case 'builtin':
      throw new Error('The built-in responder has no provider.')
  }
}
