import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { recordOf } from '../../platform/unknown-values.ts'
import { failureOfStatus, ModelFailure, tooLong } from '../failures/model-failure.ts'

/** The name under which a part's options hold what the server wants back with a call. */
export const PROVIDER_OPTIONS = 'openaiCompatible'

type AnswerContent = string | null | { type?: string; text?: string; thinking?: unknown }[]

/** The parts of a message that are used, since servers differ in the rest. */
type Delta = {
  content?: AnswerContent
  refusal?: string | null
  reasoning_content?: AnswerContent
  reasoning?: AnswerContent
  thinking?: AnswerContent
  reasoning_details?: { text?: string; summary?: string }[] | null
  tool_calls?: CallDelta[] | null
  function_call?: CallDelta['function']
  extra_content?: { google?: { thought?: boolean } } | null
}
type Choice = { delta?: Delta | null; message?: Delta | null; finish_reason?: string | null; error?: unknown }
type Usage = {
  prompt_tokens?: number
  completion_tokens?: number
  prompt_tokens_details?: { cached_tokens?: number } | null
  completion_tokens_details?: { reasoning_tokens?: number } | null
}
/** A chunk of a streamed chat completion, or a complete one. */
type Chunk = { error?: unknown; object?: string; choices?: Choice[] | null; usage?: Usage | null }

const REASONS: Record<string, LanguageModelV4FinishReason['unified']> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  content_filter: 'content-filter',
  safety: 'content-filter',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
}

const TEXT = 'text'
/** Marks reasoning that the server has sent in this field, in which it wants it back. */
const REASONING_CONTENT = { [PROVIDER_OPTIONS]: { field: 'reasoning_content' } }

/** Turns the chunks of one chat completion into parts. */
export class AnswerReader {
  readonly #add: (part: LanguageModelV4StreamPart) => void
  readonly #calls: CallReader
  #textOpen = false
  #thoughts = 0
  #thinking: string | null = null
  #finish: string | null = null
  #usage: Usage = {}

  constructor(add: (part: LanguageModelV4StreamPart) => void) {
    this.#add = add
    this.#calls = new CallReader(add)
  }

  /** Whether the server has sent a finish reason. */
  get hasFinish(): boolean {
    return this.#finish !== null
  }

  /** Throws the failure that a chunk reports, or an error for a chunk in an unknown format. */
  read(value: unknown): void {
    const chunk: Chunk | null = Array.isArray(value) ? value[0] : value
    if (typeof chunk !== 'object' || chunk === null) return
    if (chunk.error) throw failureOfError(chunk.error)
    if (chunk.object === 'error') throw failureOfError(chunk)
    if (chunk.usage) this.#usage = chunk.usage
    const choice = chunk.choices?.[0]
    if (!choice) return
    const delta = choice.delta ?? choice.message
    if (delta) this.#readDelta(delta)
    if (choice.error || choice.finish_reason === 'error') {
      throw failureOfError(choice.error ?? 'the answer ended with the reason "error"')
    }
    if (choice.finish_reason) this.#finish = String(choice.finish_reason)
  }

  /**
   * Reads the end marker of the stream. After a text, it counts as the finish reason, since some servers send none.
   * Calls need a reason, because their input may be cut off.
   */
  readDone(): void {
    if (this.#textOpen && this.#calls.isEmpty) this.#finish ??= 'stop'
  }

  /** Closes open parts and reports the finish reason and the usage. */
  end(): void {
    this.#endThinking()
    if (this.#textOpen) this.#add({ type: 'text-end', id: TEXT })
    const hasCalls = this.#calls.end()
    const raw = this.#finish ?? undefined
    const unified = REASONS[raw?.toLowerCase() ?? ''] ?? 'other'
    this.#add({
      type: 'finish',
      // Gemini reports "stop" after tool calls.
      finishReason: { unified: hasCalls && unified === 'stop' ? 'tool-calls' : unified, raw },
      usage: usageOf(this.#usage),
    })
  }

  #readDelta(delta: Delta): void {
    const { content } = delta
    if (content) {
      if (delta.extra_content?.google?.thought) this.#think(textOf(content))
      else if (typeof content === 'string') this.#say(content)
      else {
        this.#think(thinkingOf(content))
        this.#say(textOf(content))
      }
    }
    // Servers that send several of these fields put the same text in each.
    const thought = delta.reasoning_content ?? delta.reasoning ?? delta.thinking ?? null
    if (thought) this.#think(textOf(thought), delta.reasoning_content ? REASONING_CONTENT : undefined)
    else if (delta.reasoning_details) {
      this.#think(delta.reasoning_details.map(({ text, summary }) => text ?? summary ?? '').join(''))
    }
    if (delta.refusal) this.#say(delta.refusal)
    if (delta.tool_calls) {
      if (delta.tool_calls.length > 0) this.#endThinking()
      for (const call of delta.tool_calls) this.#calls.read(call)
    } else if (delta.function_call) this.#calls.read({ index: 0, function: delta.function_call })
  }

  #say(delta: string): void {
    if (delta === '') return
    if (!this.#textOpen) {
      this.#endThinking()
      this.#textOpen = true
      this.#add({ type: 'text-start', id: TEXT })
    }
    this.#add({ type: 'text-delta', id: TEXT, delta })
  }

  #think(delta: string, providerMetadata?: typeof REASONING_CONTENT): void {
    if (delta === '') return
    if (this.#thinking === null) {
      this.#thinking = `reasoning-${++this.#thoughts}`
      this.#add({
        type: 'reasoning-start',
        id: this.#thinking,
        ...(providerMetadata ? { providerMetadata } : {}),
      })
    }
    this.#add({ type: 'reasoning-delta', id: this.#thinking, delta })
  }

  #endThinking(): void {
    if (this.#thinking === null) return
    this.#add({ type: 'reasoning-end', id: this.#thinking })
    this.#thinking = null
  }
}

/** Returns the text of a content, which is a string or a list of parts. */
function textOf(content: NonNullable<AnswerContent>): string {
  if (typeof content === 'string') return content
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

/** Returns the reasoning in a content, whose parts are strings or again lists of parts. */
function thinkingOf(content: Exclude<AnswerContent, string | null>): string {
  return content
    .map(({ thinking }) => (thinking ? textOf(thinking as NonNullable<AnswerContent>) : ''))
    .join('')
}

function usageOf(usage: Usage) {
  return {
    inputTokens: {
      total: usage.prompt_tokens,
      noCache: undefined,
      cacheRead: usage.prompt_tokens_details?.cached_tokens,
      cacheWrite: undefined,
    },
    outputTokens: {
      total: usage.completion_tokens,
      text: undefined,
      reasoning: usage.completion_tokens_details?.reasoning_tokens,
    },
  }
}

type CallDelta = {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: unknown } | null
  /** Gemini's signature of the call, which must be sent back with it. */
  extra_content?: unknown
}

type Call = {
  /** The id that the server sent, which may not be unique. */
  serverId: string
  id: string
  name: string
  input: string
  extra: unknown
  isStarted: boolean
}

const MAX_CALLS = 128

/**
 * Assembles tool calls that arrive in pieces. According to the documentation, each piece names its call by `index`, and
 * the first piece has the id and the name. In practice, servers omit the index, repeat ids or names, or give every call
 * the index 0.
 */
class CallReader {
  readonly #add: (part: LanguageModelV4StreamPart) => void
  readonly #calls: Call[] = []
  #byIndex: Map<number, Call> | null = null

  constructor(add: (part: LanguageModelV4StreamPart) => void) {
    this.#add = add
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0
  }

  read(delta: CallDelta): void {
    const name = delta.function?.name ?? ''
    const input = inputOf(delta.function?.arguments)
    const known = this.#known(delta, name)
    const call = known && !isAnother(known, delta, name, input) ? known : this.#open(delta, name)
    if (call === known && name !== '' && !call.isStarted && call.name !== name) {
      // The name arrives in pieces, or each piece repeats it with more characters.
      call.name = name.startsWith(call.name) ? name : call.name + name
    }
    if (delta.extra_content) call.extra = delta.extra_content
    if (input === '') return
    this.#start(call)
    call.input += input
    this.#add({ type: 'tool-input-delta', id: call.id, delta: input })
  }

  /** Whether there were any calls. */
  end(): boolean {
    for (const call of this.#calls) {
      this.#start(call)
      const { id, name, input, extra } = call
      this.#add({ type: 'tool-input-end', id })
      this.#add({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: input || '{}',
        ...(extra ? { providerMetadata: { [PROVIDER_OPTIONS]: { extra_content: extra as never } } } : {}),
      })
    }
    return this.#calls.length > 0
  }

  #known({ index, id }: CallDelta, name: string): Call | undefined {
    if (typeof index === 'number') return this.#byIndex?.get(index)
    const last = this.#calls.at(-1)
    if (id) return this.#calls.findLast(({ serverId }) => serverId === id) ?? (name === '' ? last : undefined)
    return name === '' ? last : undefined
  }

  #open({ index, id }: CallDelta, name: string): Call {
    if (name === '') throw new ModelFailure('invalid_response', new Error('a tool call without a name'))
    if (this.#calls.length === MAX_CALLS) {
      throw new ModelFailure('invalid_response', new Error(`more than ${MAX_CALLS} tool calls`))
    }
    const isFree = id && !this.#calls.some((call) => call.id === id)
    const call = {
      serverId: id ?? '',
      id: isFree ? id : crypto.randomUUID(),
      name,
      input: '',
      extra: null,
      isStarted: false,
    }
    this.#calls.push(call)
    if (typeof index === 'number') {
      this.#byIndex ??= new Map()
      this.#byIndex.set(index, call)
    }
    return call
  }

  /** The name is shown once it is complete, which is when the input begins, or at the end. */
  #start(call: Call): void {
    if (call.isStarted) return
    call.isStarted = true
    this.#add({ type: 'tool-input-start', id: call.id, toolName: call.name })
  }
}

/** Returns whether a piece that seems to belong to a known call begins another one. */
function isAnother(known: Call, { id }: CallDelta, name: string, input: string): boolean {
  // A piece without a name continues the call even if its id is new, because some servers generate an id for each
  // piece.
  if (name === '') return false
  if (id && known.serverId !== '' && id !== known.serverId) return true
  return input !== '' && isWhole(known.input)
}

function isWhole(input: string): boolean {
  if (!input.endsWith('}')) return false
  try {
    JSON.parse(input)
    return true
  } catch {
    return false
  }
}

function inputOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const LF = 10
const CR = 13
const BYTE_ORDER_MARK = 0xfeff
const NO_BYTES = Buffer.alloc(0)

export type StreamEvent =
  | { type: 'chunk'; value: unknown }
  /** An error, as text or as a value. */
  | { type: 'error'; value: unknown }
  /** Data that is not JSON; `isWhole` is false if the stream broke off in it. */
  | { type: 'unreadable'; isWhole: boolean }
  | { type: 'done' }

/**
 * Reads a server-sent event stream of JSON as its bytes arrive, and tolerates what servers do differently: a data line
 * that is complete JSON is an event, whether or not an empty line follows. Throws when a line, or an event of several
 * lines, exceeds `longest` bytes.
 */
export class EventReader {
  readonly #longest: number
  readonly #onEvent: (event: StreamEvent) => void
  /** The bytes of the unfinished line are the first `#length` of these. */
  #rest = NO_BYTES
  #length = 0
  #isFirst = true
  #endedWithCr = false
  /** Data whose JSON continues in the next line. */
  #data: string | null = null
  #isError = false

  constructor(longest: number, onEvent: (event: StreamEvent) => void) {
    this.#longest = longest
    this.#onEvent = onEvent
  }

  /** Whether a line ended in these bytes, including comments. */
  push(bytes: Buffer): boolean {
    const end = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1
    if (end === 0) {
      this.#keep(bytes)
      return false
    }
    // A line never ends inside a character, so complete lines can be decoded separately.
    if (this.#length > 0) this.#keep(bytes.subarray(0, end))
    const lines =
      this.#length > 0 ? this.#rest.toString('utf8', 0, this.#length) : bytes.toString('utf8', 0, end)
    this.#length = 0
    this.#keep(bytes.subarray(end))
    this.#readLines(lines)
    return true
  }

  /** The stream has ended; its last line may lack its terminator. */
  end(): void {
    const last = this.#rest.toString('utf8', 0, this.#length)
    this.#length = 0
    if (last !== '') this.#readLines(`${last}\n`, false)
    this.#closeEvent(false)
  }

  #keep(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#longest) throw tooLong('a line of the stream')
    if (length > this.#rest.length) {
      const grown = Buffer.allocUnsafe(Math.max(length, 2 * this.#rest.length, 1_024))
      this.#rest.copy(grown, 0, 0, this.#length)
      this.#rest = grown
    }
    bytes.copy(this.#rest, this.#length)
    this.#length = length
  }

  #readLines(text: string, isWhole = true): void {
    let from = 0
    if (this.#isFirst) {
      this.#isFirst = false
      if (text.charCodeAt(0) === BYTE_ORDER_MARK) from = 1
    }
    if (text.includes('\r') || this.#endedWithCr) {
      if (this.#endedWithCr && text.charCodeAt(from) === LF) from++
      this.#endedWithCr = text.endsWith('\r')
      const lines = text.slice(from).split(/\r\n|\n|\r/)
      lines.pop()
      for (const line of lines) this.#readLine(line)
      return
    }
    for (let to = text.indexOf('\n', from); to !== -1; to = text.indexOf('\n', from)) {
      this.#readLine(text.slice(from, to), isWhole)
      from = to + 1
    }
  }

  #readLine(line: string, isWhole = true): void {
    if (line === '') this.#closeEvent(true)
    else if (line.startsWith('data:')) this.#readData(line.slice(line[5] === ' ' ? 6 : 5))
    else if (line.startsWith('event:')) this.#isError = line.slice(6).trim() === 'error'
    else if (line.startsWith('error:')) {
      // Older versions of llama.cpp name the field after its content.
      this.#isError = true
      this.#readData(line.slice(6).trim())
    } else if (line.startsWith('{') && isWhole) {
      // A proxy or a server may write an error without a field name. Other fields and comments are ignored.
      const value = parse(line)
      if (value !== undefined) this.#onEvent({ type: 'chunk', value })
    }
  }

  #readData(data: string): void {
    if (this.#data !== null) {
      this.#data += `\n${data}`
      if (this.#data.length > this.#longest) throw tooLong('an event of the stream')
      return
    }
    if (data.startsWith('[DONE]')) {
      this.#onEvent({ type: 'done' })
      return
    }
    const value = parse(data)
    if (value !== undefined) this.#onEvent({ type: this.#isError ? 'error' : 'chunk', value })
    else if (data.trim() !== '') this.#data = data
  }

  #closeEvent(isWhole: boolean): void {
    const data = this.#data
    const isError = this.#isError
    this.#data = null
    this.#isError = false
    if (data === null) return
    const value = parse(data)
    if (isError) this.#onEvent({ type: 'error', value: value ?? data })
    else if (value !== undefined) this.#onEvent({ type: 'chunk', value })
    else this.#onEvent({ type: 'unreadable', isWhole })
  }
}

/** Returns undefined for anything that is not JSON. */
function parse(data: string): unknown {
  const first = data.charCodeAt(0)
  // No event or error begins differently, and detecting that by an exception is expensive.
  if (first !== 0x7b && first !== 0x5b && first !== 0x22 && first !== 0x20) return undefined
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}

/** Returns the failure for an error in the middle of a stream, which is a text or an object as in an error response. */
export function failureOfError(said: unknown): ModelFailure {
  const error = recordOf(said).error ?? said
  const { code, status, type, message } = recordOf(error)
  const words = typeof error === 'string' ? error : [code, type, message].filter(Boolean).join(' ')
  const cause = new Error(words || JSON.stringify(error))
  const number = [code, status].map(Number).find((value) => value >= 400 && value < 600)
  if (number) return failureOfStatus(number, undefined, cause)
  if (/rate.?limit|quota|too.many.requests/i.test(words)) return failureOfStatus(429, undefined, cause)
  if (/invalid_request|authentication|permission|context.{0,20}(length|size|window)/i.test(words)) {
    return failureOfStatus(400, undefined, cause)
  }
  return new ModelFailure('unavailable', cause)
}
