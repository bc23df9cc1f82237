import type { IncomingHttpHeaders } from 'node:http'
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import type { Dispatcher } from 'undici'
import type { CallOptions, Receiver, Wire } from '../calls/model-call.ts'
import { namedIn, type Refused, without } from '../calls/refused-settings.ts'
import type { LengthField } from '../catalogue/catalogue.ts'
import { failureOfStatus, ModelFailure, tooLong } from '../failures/model-failure.ts'
import {
  AnswerReader,
  EventReader,
  failureOfError,
  PROVIDER_OPTIONS,
  type StreamEvent,
} from './answer-reader.ts'

type Settings = {
  name: string
  baseUrl: string
  apiKey: string | null
  /** What the server calls the length of an answer. */
  lengthField: LengthField
  connections: Dispatcher
}

/** After the finish reason, the time in which the server must report the usage and end the body. */
const CLOSING_MS = 1_000
/** The most bytes that are read of an error's body, or after the end of an answer. */
const FEW_BYTES = 64 * 1024

const GIVEN_UP = new DOMException('The answer is not wanted any more.', 'AbortError')

/**
 * A lean client for servers that implement OpenAI's chat completion API: what one network read brings is processed in
 * one go, without streams or promises in between.
 */
export function compatibleWire({ name, baseUrl, apiKey, lengthField, connections }: Settings): Wire {
  const { origin, pathname, search } = new URL(baseUrl)
  const path = `${pathname.replace(/\/+$/, '')}/chat/completions${search}`
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  }
  return (options, receiver, refused) => {
    // The body is built again if it is refused, so that it need not be kept until the response has ended.
    const body = () => without(requestBody({ name, lengthField }, options), refused)
    const text = JSON.stringify(body())
    const response = new Response(receiver, options, (said) => namedIn(said, body()))
    const length = { 'content-length': String(Buffer.byteLength(text)) }
    // The receiver enforces the timeouts.
    const times = { headersTimeout: 0, bodyTimeout: 0 }
    connections.dispatch(
      { origin, path, method: 'POST', headers: { ...headers, ...length }, ...sentOnce(text), ...times },
      response,
    )
    return response
  }
}

/** Returns the option of a body that can be garbage-collected once it is sent. undici keeps a string until the response has ended. */
function sentOnce(text: string): object {
  let body: string | null = text
  const parts = {
    async *[Symbol.asyncIterator]() {
      const part = body
      body = null
      if (part !== null) yield part
    },
  }
  // undici accepts any async iterable, which is cheaper than the stream that its types ask for.
  return { body: parts }
}

class Response implements Dispatcher.DispatchHandler {
  readonly #receiver: Receiver
  /** Returns the settings of the request that an error names. */
  readonly #namedIn: (said: string) => Refused
  readonly #answer: AnswerReader
  readonly #events: EventReader
  #controller: Dispatcher.DispatchController | null = null
  /** Processes what is read: the events of an answer, or a complete body. */
  #mode: 'events' | 'json' | 'error' = 'events'
  #status = 0
  #retryAfter: string | undefined
  #whole: Buffer[] = []
  #bytes = 0
  #bytesAtEnd = 0
  /** Whether the receiver has been told of the end, or wants no more parts. */
  #isOver = false
  #closing: NodeJS.Timeout | undefined

  constructor(receiver: Receiver, options: Parameters<Wire>[0], namedIn: (said: string) => Refused) {
    this.#receiver = receiver
    this.#namedIn = namedIn
    this.#answer = new AnswerReader(
      withWrittenCalls(
        new Set(options.tools?.map(({ name }) => name)),
        options.toolChoice?.type !== 'none',
        (part) => receiver.add(part),
      ),
    )
    this.#events = new EventReader(receiver.limits.line, this.#onEvent)
  }

  stop(): void {
    this.#isOver = true
    this.#close()
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(GIVEN_UP)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // undici keeps them, and with them the network read that they are part of, until the response has ended.
    controller.rawHeaders = null
    if (status < 200) return
    this.#receiver.alive()
    const type = headers['content-type'] ?? ''
    this.#status = status
    this.#retryAfter = headers['retry-after']
    if (status !== 200) {
      this.#mode = 'error'
      // The failure is known, so its explanation is not waited for.
      this.#closing = setTimeout(this.#onClosingTime, CLOSING_MS)
    } else if (type.includes('application/json')) this.#mode = 'json'
    else if (type !== '' && !type.includes('text/event-stream') && !type.includes('ndjson')) {
      this.#fail(new ModelFailure('invalid_response', new Error(`content type ${type}`)))
    }
  }

  onResponseData(_: unknown, bytes: Buffer): void {
    this.#bytes += bytes.length
    if (this.#isOver) {
      if (this.#bytes - this.#bytesAtEnd > FEW_BYTES) this.#close()
      return
    }
    if (this.#mode !== 'events') {
      this.#whole.push(Buffer.from(bytes))
      if (this.#mode === 'error' && this.#bytes > FEW_BYTES) this.#end()
      else if (this.#bytes > this.#receiver.limits.line) this.#fail(tooLong('the body'))
      return
    }
    if (this.#bytes > this.#receiver.limits.body) {
      this.#fail(tooLong('the stream'))
      return
    }
    this.#guard(() => {
      if (this.#events.push(bytes)) this.#receiver.alive()
    })
  }

  onResponseEnd(): void {
    clearTimeout(this.#closing)
    this.#controller = null
    if (!this.#isOver && this.#mode === 'events') this.#guard(() => this.#events.end())
    if (!this.#isOver) this.#end()
  }

  onResponseError(_: unknown, error: Error): void {
    clearTimeout(this.#closing)
    this.#controller = null
    if (this.#isOver) return
    if (this.#answer.hasFinish || this.#mode === 'error') this.#end()
    else this.#fail(error)
  }

  readonly #onEvent = (event: StreamEvent): void => {
    if (this.#isOver) return
    if (event.type === 'chunk') {
      const hadFinish = this.#answer.hasFinish
      this.#answer.read(event.value)
      if (!hadFinish && this.#answer.hasFinish) this.#closing = setTimeout(this.#onClosingTime, CLOSING_MS)
    } else if (event.type === 'error') this.#fail(failureOfError(event.value), JSON.stringify(event.value))
    else if (event.type === 'done') {
      this.#answer.readDone()
      this.#end()
    } else if (!this.#answer.hasFinish) {
      const kind = event.isWhole ? 'invalid_response' : 'unavailable'
      this.#fail(new ModelFailure(kind, new Error('an event whose data is no JSON')))
    }
  }

  readonly #onClosingTime = (): void => {
    if (!this.#isOver) this.#end()
    this.#close()
  }

  /** Reports the end. What the server still sends is read for a moment, so that the connection can be reused. */
  #end(): void {
    if (this.#mode === 'error') {
      const said = Buffer.concat(this.#whole).toString('utf8')
      this.#fail(failureOfStatus(this.#status, this.#retryAfter, new Error(`${this.#status} ${said}`)), said)
      return
    }
    if (this.#mode === 'json') this.#guard(() => this.#readWhole())
    if (this.#isOver) return
    if (!this.#answer.hasFinish) {
      this.#fail(new ModelFailure('unavailable', new Error('the stream ended without a finish reason')))
      return
    }
    this.#guard(() => this.#answer.end())
    if (this.#isOver) return
    this.#isOver = true
    this.#bytesAtEnd = this.#bytes
    this.#receiver.end()
  }

  /** Some servers answer with a complete chat completion although a stream was requested. */
  #readWhole(): void {
    let completion: unknown
    try {
      completion = JSON.parse(Buffer.concat(this.#whole).toString('utf8'))
    } catch {
      // The parser's own error quotes part of the model's output.
      throw new ModelFailure('invalid_response', new Error('a body that is no JSON'))
    }
    this.#answer.read(completion)
  }

  #fail(error: unknown, said = ''): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#close()
    this.#receiver.fail(error, said === '' ? undefined : this.#namedIn(said))
  }

  #close(): void {
    clearTimeout(this.#closing)
    this.#controller?.abort(GIVEN_UP)
  }

  /** Reports an exception while reading as an unreadable response. */
  #guard(read: () => void): void {
    try {
      read()
    } catch (error) {
      this.#fail(error instanceof ModelFailure ? error : new ModelFailure('invalid_response', error))
    }
  }
}

type Add = (part: LanguageModelV4StreamPart) => void

/** How a call begins that a model writes as its text: as JSON, in a fence, or in a tag of a model's template. */
const START = /^\s*(?:```[a-z]*\s*|<tool_call>\s*)?[{[]/
const MAY_START = /^\s*(?:`{0,3}|```[a-z]*\s*|<[a-z_]*|<tool_call>\s*)$/
const AROUND = /^\s*(?:```[a-z]*|<tool_call>)?|(?:```|<\/tool_call>)?\s*$/g
/** The most characters of a text that are held back to see whether it is a call. */
const LONGEST = 20_000

/**
 * Some models, and servers that do not read their templates, write a call as the text of the answer:
 * `{"name": "find_order", "arguments": {…}}`. Returns a receiver of parts that makes such a text the call that it is, if
 * the whole text is one and names a declared tool. Any other text is passed on as it arrives. Where the model was told
 * to call nothing, such a text is left out, so that the answer has no words.
 */
export function withWrittenCalls(names: ReadonlySet<string>, mayCall: boolean, add: Add): Add {
  if (names.size === 0) return add
  let held: LanguageModelV4StreamPart[] | null = null
  let text = ''
  let isCalled = false
  const release = (): void => {
    for (const part of held ?? []) add(part)
    held = null
  }
  return (part) => {
    if (part.type === 'text-start') {
      held = [part]
      text = ''
    } else if (held && part.type === 'text-delta') {
      held.push(part)
      text += part.delta
      if (text.length > LONGEST || !(START.test(text) || MAY_START.test(text))) release()
    } else if (held && part.type === 'text-end') {
      const calls = callsIn(text, names)
      if (calls.length === 0) {
        held.push(part)
        return release()
      }
      held = null
      isCalled = mayCall
      if (mayCall) for (const call of calls) addCall(add, call)
    } else if (isCalled && part.type === 'finish' && part.finishReason.unified === 'stop')
      add({ ...part, finishReason: { ...part.finishReason, unified: 'tool-calls' } })
    else add(part)
  }
}

type Written = { name: string; input: string }

/** Returns the calls that a text consists of; none if it is anything else. */
function callsIn(text: string, names: ReadonlySet<string>): Written[] {
  try {
    const written: unknown = JSON.parse(text.replace(AROUND, ''))
    const calls = (Array.isArray(written) ? written : [written]).map((one) => callOf(one, names))
    return calls.every((call) => call !== null) ? calls : []
  } catch {
    return []
  }
}

function callOf(written: unknown, names: ReadonlySet<string>): Written | null {
  if (typeof written !== 'object' || written === null) return null
  const { name, arguments: given, parameters = given } = written as Record<string, unknown>
  if (typeof name !== 'string' || !names.has(name)) return null
  if (typeof parameters === 'string') return { name, input: parameters }
  return typeof parameters === 'object' && parameters !== null
    ? { name, input: JSON.stringify(parameters) }
    : null
}

function addCall(add: Add, { name, input }: Written): void {
  const id = crypto.randomUUID()
  add({ type: 'tool-input-start', id, toolName: name })
  add({ type: 'tool-input-delta', id, delta: input })
  add({ type: 'tool-input-end', id })
  add({ type: 'tool-call', toolCallId: id, toolName: name, input })
}

/** Builds the body of a chat completion request from the call options. */
export function requestBody(
  { name: model, lengthField }: { name: string; lengthField: LengthField },
  options: CallOptions,
): Record<string, unknown> {
  const tools = (options.tools ?? []).filter((tool) => tool.type === 'function')
  return {
    model,
    messages: options.prompt.flatMap(messagesOf),
    stream: true,
    stream_options: { include_usage: true },
    temperature: options.temperature,
    [lengthField]: options.maxOutputTokens,
    ...reasoningSettings(options.reasoning),
    ...responseFormat(options.responseFormat),
    stop: options.stopSequences,
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
          tool_choice: toolChoice(options.toolChoice),
        }
      : {}),
  }
}

/**
 * Servers of open models turn the reasoning off by a setting of the model's template, gateways by `none`. A server that
 * refuses either by its name is asked without it.
 */
function reasoningSettings(reasoning: CallOptions['reasoning']): Record<string, unknown> {
  if (reasoning === undefined || reasoning === 'provider-default') return {}
  const isOff = reasoning === 'none'
  return {
    reasoning_effort: reasoning,
    ...(isOff ? { chat_template_kwargs: { enable_thinking: false } } : {}),
  }
}

function responseFormat(format: CallOptions['responseFormat']): Record<string, unknown> {
  if (format?.type !== 'json') return {}
  const { schema, name = 'response' } = format
  if (!schema) return { response_format: { type: 'json_object' } }
  return { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } }
}

function messagesOf(message: LanguageModelV4Message): Record<string, unknown>[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }]
    case 'user':
      return [{ role: 'user', content: contentOf(message.content) }]
    case 'assistant': {
      const calls = message.content.filter((part) => part.type === 'tool-call')
      const text = textOf(message.content)
      return [
        {
          role: 'assistant',
          content: text === '' && calls.length > 0 ? null : text,
          ...reasoningOf(message.content),
          ...(calls.length > 0
            ? {
                tool_calls: calls.map(({ toolCallId, toolName, input, providerOptions }) => ({
                  id: toolCallId,
                  type: 'function',
                  function: { name: toolName, arguments: JSON.stringify(input) },
                  ...providerOptions?.[PROVIDER_OPTIONS],
                })),
              }
            : {}),
        },
      ]
    }
    case 'tool':
      return message.content
        .filter((part) => part.type === 'tool-result')
        .map(({ toolCallId, output }) => ({
          role: 'tool',
          tool_call_id: toolCallId,
          content: outputText(output),
        }))
  }
}

/** Servers of models that see take a list; others may know texts alone. */
function contentOf(content: Extract<LanguageModelV4Message, { role: 'user' }>['content']): unknown {
  if (content.every(({ type }) => type === 'text')) return textOf(content)
  return content.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }]
    if (part.data.type !== 'data') return []
    const base64 = Buffer.from(part.data.data as Uint8Array).toString('base64')
    return [{ type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${base64}` } }]
  })
}

/** DeepSeek refuses a call that it has reasoned about without that reasoning. */
function reasoningOf(content: Extract<LanguageModelV4Message, { role: 'assistant' }>['content']): {
  reasoning_content?: string
} {
  const parts = content.filter(
    (part) =>
      part.type === 'reasoning' && part.providerOptions?.[PROVIDER_OPTIONS]?.field === 'reasoning_content',
  )
  const text = parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
  return text === '' ? {} : { reasoning_content: text }
}

function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map(({ type, text }) => (type === 'text' ? text : '')).join('')
}

function outputText(output: LanguageModelV4ToolResultOutput): string {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'execution-denied':
      return output.reason ?? 'The call was not executed.'
    default:
      return JSON.stringify(output.value)
  }
}

function toolChoice(choice: LanguageModelV4CallOptions['toolChoice']): unknown {
  if (choice?.type === 'tool') return { type: 'function', function: { name: choice.toolName } }
  return choice?.type
}
