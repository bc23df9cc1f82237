import type { LanguageModelV4FinishReason, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { ModelFailure } from '../model-failure.ts'

/** A piece of a streamed chat completion; only what is used, since servers differ in the rest. */
type Chunk = {
  error?: unknown
  choices?: {
    delta?: { content?: string | null; tool_calls?: ToolCallDelta[] }
    finish_reason?: string | null
  }[]
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null
}
type ToolCallDelta = { index?: number; id?: string; function?: { name?: string; arguments?: string } }

type OpenCall = { id: string; name: string; input: string }

const REASONS: Record<string, LanguageModelV4FinishReason['unified']> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
}

const TEXT = 'text'

/** Turns the data of one chat completion's stream into parts; `end` closes what is open and adds `finish`. */
export function createPartMaker(): {
  partsOf(data: string): LanguageModelV4StreamPart[]
  end(): LanguageModelV4StreamPart[]
} {
  let textOpen = false
  let finish: LanguageModelV4FinishReason | null = null
  let usage: NonNullable<Chunk['usage']> = {}
  const calls = new Map<number, OpenCall>()

  const textPart = (delta: string): LanguageModelV4StreamPart[] => {
    const part = { type: 'text-delta' as const, id: TEXT, delta }
    if (textOpen) return [part]
    textOpen = true
    return [{ type: 'text-start', id: TEXT }, part]
  }

  const callParts = ({ index = 0, id, function: fn }: ToolCallDelta): LanguageModelV4StreamPart[] => {
    const parts: LanguageModelV4StreamPart[] = []
    let call = calls.get(index)
    if (!call) {
      if (!fn?.name) throw new ModelFailure('invalid_response', new Error('a tool call without a name'))
      call = { id: id || crypto.randomUUID(), name: fn.name, input: '' }
      calls.set(index, call)
      parts.push({ type: 'tool-input-start', id: call.id, toolName: call.name })
    }
    const delta = fn?.arguments
    if (delta) {
      call.input += delta
      parts.push({ type: 'tool-input-delta', id: call.id, delta })
    }
    return parts
  }

  return {
    partsOf(data) {
      const chunk = parse(data)
      if (chunk.error) throw new ModelFailure('unavailable', chunk.error)
      if (chunk.usage) usage = chunk.usage
      const choice = chunk.choices?.[0]
      if (!choice) return []
      const parts: LanguageModelV4StreamPart[] = []
      if (choice.delta?.content) parts.push(...textPart(choice.delta.content))
      for (const call of choice.delta?.tool_calls ?? []) parts.push(...callParts(call))
      if (choice.finish_reason) {
        finish = { unified: REASONS[choice.finish_reason] ?? 'other', raw: choice.finish_reason }
      }
      return parts
    },
    end() {
      if (!finish)
        throw new ModelFailure('unavailable', new Error('the stream ended without a finish reason'))
      const parts: LanguageModelV4StreamPart[] = []
      if (textOpen) parts.push({ type: 'text-end', id: TEXT })
      for (const { id, name, input } of calls.values()) {
        parts.push({ type: 'tool-input-end', id })
        parts.push({ type: 'tool-call', toolCallId: id, toolName: name, input: input || '{}' })
      }
      parts.push({ type: 'finish', finishReason: finish, usage: usageOf(usage) })
      return parts
    },
  }
}

function parse(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk
  } catch (cause) {
    throw new ModelFailure('invalid_response', cause)
  }
}

function usageOf({ prompt_tokens: input, completion_tokens: output }: NonNullable<Chunk['usage']>) {
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: undefined, reasoning: undefined },
  }
}
