import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Dispatcher } from 'undici'
import { boundedFetch } from '../calls/bounded-fetch.ts'
import { type CallOptions, limitsOf, type Wire } from '../calls/model-call.ts'
import { type Refused, without } from '../calls/refused-settings.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { withCacheMarks, withOneSystem } from './cache-marks.ts'
import { languageModelWire } from './language-model-wire.ts'

/** Returns the wire for the provider of a catalogue entry. */
export async function providerWire(entry: ModelEntry, connections: Dispatcher): Promise<Wire> {
  const { name } = entry
  if (entry.provider === 'openai-compatible') {
    const { compatibleWire } = await import('../openai-compatible/compatible-wire.ts')
    const { baseUrl, apiKey, lengthField } = entry
    const wire = compatibleWire({ name, baseUrl: baseUrl ?? '', apiKey, lengthField, connections })
    return (options, ...rest) => wire(asTaken(entry, options), ...rest)
  }
  const wire = languageModelWire(await modelOf(entry, connections))
  return (options, ...rest) => wire(asTaken(entry, options), ...rest)
}

/** Returns the options of a call as the model takes them. */
function asTaken({ temperature: isSent, canThink, ...entry }: ModelEntry, options: CallOptions): CallOptions {
  const { temperature, providerOptions, reasoning: asked, cacheKey, prompt, ...rest } = options
  // Claude refuses to think where it has to call a tool.
  const isForced = options.toolChoice?.type === 'tool' && entry.provider === 'anthropic'
  const reasoning = isForced ? 'none' : (asked ?? entry.reasoning)
  // 0 is the default of every agent; what somebody has chosen is sent.
  const isLeftOut =
    temperature === undefined || isSent === 'never' || (isSent === 'chosen' && temperature === 0)
  return {
    ...rest,
    prompt:
      entry.provider !== 'anthropic' ? withOneSystem(prompt) : cacheKey ? withCacheMarks(prompt) : prompt,
    ...(isLeftOut ? {} : { temperature }),
    ...(canThink && typeof reasoning === 'string' ? { reasoning } : {}),
    providerOptions: {
      ...providerOptions,
      // Conversations are stored here, so OpenAI need not keep them as well.
      openai: { store: false, ...(cacheKey ? { promptCacheKey: cacheKey } : {}) },
      ...thinkingOptions(entry.provider, canThink, reasoning),
    },
  }
}

/** Returns what only one provider knows: a budget in tokens, and the wish to read what is thought. */
function thinkingOptions(
  provider: ModelEntry['provider'],
  canThink: boolean,
  reasoning: string | number | null,
): SharedV4ProviderOptions {
  const budget = typeof reasoning === 'number' ? reasoning : null
  if (provider === 'anthropic' && budget !== null)
    return { anthropic: { thinking: { type: 'enabled', budgetTokens: budget } } }
  if (provider !== 'google' || !canThink || reasoning === null || reasoning === 'none') return {}
  return {
    google: {
      thinkingConfig: { includeThoughts: true, ...(budget === null ? {} : { thinkingBudget: budget }) },
    },
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
