import type {
  LanguageModelV4,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { type Dispatcher, fetch as fetchThrough } from 'undici'
import { recordOf } from '../../platform/unknown-values.ts'
import { type CallLimits, type CallOptions, limitsOf, type Part, type Wire } from '../calls/model-call.ts'
import { namedIn, type Refused, without } from '../calls/refused-settings.ts'
import type { ModelEntry } from '../catalogue/catalogue.ts'
import { tooLong } from '../failures/model-failure.ts'

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

const NEWLINE = 10

/**
 * A fetch for the providers' packages that uses our keep-alive connections. The packages buffer a line until it ends,
 * however long it is, so a body that exceeds the limits is cut off before they see it.
 */
function boundedFetch(connections: Dispatcher, limits: CallLimits): typeof globalThis.fetch {
  const dispatcher = connections.compose((dispatch) => (options, handler) => {
    return dispatch(options, countBytes(handler, limits))
  })
  return ((input: string, init: object) => fetchThrough(input, { ...init, dispatcher })) as never
}

function countBytes(handler: Dispatcher.DispatchHandler, limits: CallLimits): Dispatcher.DispatchHandler {
  let body = 0
  let line = 0
  return {
    onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
    onRequestUpgrade: (controller, status, headers, socket) =>
      handler.onRequestUpgrade?.(controller, status, headers, socket),
    onResponseStart: (controller, status, headers, message) =>
      handler.onResponseStart?.(controller, status, headers, message),
    onResponseData(controller, chunk) {
      body += chunk.length
      const end = chunk.lastIndexOf(NEWLINE)
      line = end === -1 ? line + chunk.length : chunk.length - end - 1
      if (line > limits.line) controller.abort(tooLong('a line of the stream'))
      else if (body > limits.body) controller.abort(tooLong('the stream'))
      else handler.onResponseData?.(controller, chunk)
    },
    onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
    onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
  }
}

const MARK = { anthropic: { cacheControl: { type: 'ephemeral' } } }

const marked = (message: LanguageModelV4Message): LanguageModelV4Message => ({
  ...message,
  providerOptions: { ...message.providerOptions, ...MARK },
})

/**
 * Marks for Claude up to where a prompt can be read from the cache, of four marks that it may have: the instructions and
 * tools, which all conversations share; what was said before the newest question, which the next turns repeat; and what
 * tools returned, which the next steps repeat. The question is not marked, because what stands beside it is never read
 * again after a turn without tools.
 */
function withCacheMarks(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const newest = prompt.findLastIndex(({ role }) => role === 'user')
  return prompt.map((message, at) => {
    const isShared = at === 0 && message.role === 'system'
    const isHistory = at === newest - 1 && message.role !== 'system'
    const isResult = at === prompt.length - 1 && message.role === 'tool'
    return isShared || isHistory || isResult ? marked(message) : message
  })
}

/** Joins the system messages at the beginning, because many servers take only one. */
function withOneSystem(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const until = prompt.findIndex(({ role }) => role !== 'system')
  const texts = prompt
    .slice(0, until)
    .flatMap((message) => (message.role === 'system' ? message.content : []))
  return texts.length < 2 ? prompt : [{ role: 'system', content: texts.join('\n\n') }, ...prompt.slice(until)]
}

/** Created once, because an error with a stack trace for each aborted call would cost more than aborting it. */
const GIVEN_UP = new DOMException('The answer is not wanted any more.', 'AbortError')

/** Adapts a model with the AI SDK's interface; `modelFor` returns one that does not send what is refused. */
export function languageModelWire(modelFor: (refused: Refused) => LanguageModelV4): Wire {
  return (options, receiver, refused) => {
    const model = modelFor(refused)
    const controller = new AbortController()
    let isOver = false
    let reader: ReadableStreamDefaultReader<Part> | null = null
    /** Resolves when reading continues; null while nothing has paused it. */
    let paused: PromiseWithResolvers<void> | null = null
    // A call that ignores its signal delays nobody; its later output is dropped.
    const read = async (): Promise<void> => {
      const { stream } = await model.doStream({ ...options, abortSignal: controller.signal })
      reader = stream.getReader()
      while (!isOver) {
        await paused?.promise
        const { value, done } = await reader.read()
        if (isOver) break
        if (done) {
          isOver = true
          receiver.end()
          return
        }
        receiver.add(value)
      }
      await reader.cancel()
    }
    read().catch((error: unknown) => {
      if (isOver) return
      isOver = true
      const { responseBody, requestBodyValues } = recordOf(error)
      const isAnswered = typeof responseBody === 'string' && typeof requestBodyValues === 'object'
      const sent = isAnswered ? without(recordOf(requestBodyValues), refused) : null
      receiver.fail(error, sent ? namedIn(responseBody as string, sent) : undefined)
    })
    return {
      stop() {
        if (isOver) return
        isOver = true
        controller.abort(GIVEN_UP)
        reader?.cancel().catch(() => {})
        paused?.resolve()
      },
      pause() {
        paused = Promise.withResolvers()
      },
      resume() {
        paused?.resolve()
        paused = null
      },
    }
  }
}
