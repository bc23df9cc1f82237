import type { Dispatcher } from 'undici'
import { boundedFetch } from '../calls/bounded-fetch.ts'
import { limitsOf } from '../calls/call-limits.ts'
import type { Wire } from '../calls/model-call.ts'
import { type Refused, without } from '../calls/refused-settings.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { languageModelWire } from './language-model-wire.ts'

/** Returns the wire for the provider of a catalogue entry. */
export async function providerWire(entry: ModelEntry, connections: Dispatcher): Promise<Wire> {
  const { name } = entry
  if (entry.provider === 'openai-compatible') {
    const { compatibleWire } = await import('../openai-compatible/compatible-wire.ts')
    return compatibleWire({ name, baseUrl: entry.baseUrl ?? '', apiKey: entry.apiKey, connections })
  }
  const send = boundedFetch(connections, limitsOf(entry))
  const settings = (refused: Refused) => ({
    // The providers' packages fall back to environment variables, so an empty key is passed to state that there is
    // none.
    apiKey: entry.apiKey ?? '',
    ...(entry.baseUrl ? { baseURL: entry.baseUrl } : {}),
    fetch: refused.size === 0 ? send : sendingWithout(refused, send),
  })
  switch (entry.provider) {
    case 'openai': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return languageModelWire((refused) => createOpenAI(settings(refused)).chat(name))
    }
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      const wire = languageModelWire((refused) => createOpenAI(settings(refused)).responses(name))
      // Conversations are stored here, so the provider need not keep them as well.
      return (options, ...rest) =>
        wire(
          { ...options, providerOptions: { ...options.providerOptions, openai: { store: false } } },
          ...rest,
        )
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return languageModelWire((refused) => createAnthropic(settings(refused))(name))
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return languageModelWire((refused) => createGoogle(settings(refused))(name))
    }
    case 'builtin':
      throw new Error('The built-in responder has no provider.')
  }
}

const sendingWithout =
  (refused: Refused, send: typeof fetch): typeof fetch =>
  (input, init) => {
    if (typeof init?.body !== 'string') return send(input, init)
    return send(input, { ...init, body: JSON.stringify(without(JSON.parse(init.body), refused)) })
  }
