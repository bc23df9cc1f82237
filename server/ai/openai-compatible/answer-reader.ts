import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { type CallDelta, CallReader } from './call-reader.ts'
import { PROVIDER_OPTIONS } from './request-body.ts'
import { failureOfError } from './stream-error.ts'

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
