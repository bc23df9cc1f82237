import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Dispatcher } from 'undici'
import { boundedFetch } from '../calls/bounded-fetch.ts'
import { limitsOf } from '../calls/call-limits.ts'
import type { CallOptions, Wire } from '../calls/model-call.ts'
import { type Refused, without } from '../calls/refused-settings.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { adviceFor } from '../catalogue/known-models.ts'
import { languageModelWire } from './language-model-wire.ts'

/** Returns the wire for the provider of a catalogue entry. */
export async function providerWire(entry: ModelEntry, connections: Dispatcher): Promise<Wire> {
  const { name } = entry
  if (entry.provider === 'openai-compatible') {
    const { compatibleWire } = await import('../openai-compatible/compatible-wire.ts')
    return compatibleWire({ name, baseUrl: entry.baseUrl ?? '', apiKey: entry.apiKey, connections })
  }
  const wire = languageModelWire(await modelOf(entry, connections))
  return (options, ...rest) => wire(asAdvised(entry, options), ...rest)
}

/** Returns the options of a call, changed as the provider advises. */
function asAdvised({ provider, name }: ModelEntry, options: CallOptions): CallOptions {
  const { reasoning, ownTemperature } = adviceFor(provider, name)
  const { temperature, ...rest } = options
  // 0 is the default of every agent; what somebody has chosen is sent.
  const isLeftOut = temperature === undefined || (ownTemperature && temperature === 0)
  return {
    ...rest,
    ...(isLeftOut ? {} : { temperature }),
    ...(reasoning ? { reasoning } : {}),
    // Conversations are stored here, so OpenAI need not keep them as well.
    providerOptions: { ...options.providerOptions, openai: { store: false } },
  }
}

/** Returns a function that creates the model of an entry, which leaves out the refused settings. */
async function modelOf(
  entry: ModelEntry,
  connections: Dispatcher,
): Promise<(refused: Refused) => LanguageModelV4> {
  const { name } = entry
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
      return (refused) => createOpenAI(settings(refused)).chat(name)
    }
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return (refused) => createOpenAI(settings(refused)).responses(name)
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return (refused) => createAnthropic(settings(refused))(name)
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google')
      return (refused) => createGoogle(settings(refused))(name)
    }
    default:
      throw new Error(`There is no package for the provider ${entry.provider}.`)
  }
}

const sendingWithout =
  (refused: Refused, send: typeof fetch): typeof fetch =>
  (input, init) => {
    if (typeof init?.body !== 'string') return send(input, init)
    return send(input, { ...init, body: JSON.stringify(without(JSON.parse(init.body), refused)) })
  }
