import type {
  JSONValue,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import type { MessagePart } from '../../db/tables/conversations.ts'
import { resultsOf, textOf } from '../records/parts.ts'
import { withoutMarkers } from './citations.ts'

/** The part of a stored message that a model reads. */
export type Said = { role: 'user' | 'assistant'; parts: MessagePart[] }

/**
 * The most characters of a result for the model; larger ones would push everything else out of its context window.
 */
const LONGEST_RESULT = 24_000

/**
 * A stored message as the messages a model reads: one of the assistant becomes a sequence of steps, each with
 * its calls and then a result for every one of them. Providers refuse a history with an unanswered call; one
 * that has no result is said to be ignored.
 */
export function modelMessages(said: Said): LanguageModelV4Message[] {
  if (said.role === 'user') {
    const text = textOf(said)
    return text === '' ? [] : [{ role: 'user', content: [{ type: 'text', text }] }]
  }
  const results = resultsOf(said.parts)
  return stepsOf(said.parts).flatMap((step) => {
    const calls = step.filter((part) => part.type === 'tool-call')
    const spoken: LanguageModelV4Message = { role: 'assistant', content: step.map(toContent) }
    if (calls.length === 0) return [spoken]
    const answers = calls.map(({ toolCallId, toolName }): LanguageModelV4ToolResultPart => {
      const output = (results.get(toolCallId)?.output ?? { status: 'ignored' }) as JSONValue
      return toolResult(toolCallId, toolName, output)
    })
    return [spoken, { role: 'tool', content: answers }]
  })
}

export function toolResult(
  toolCallId: string,
  toolName: string,
  output: JSONValue,
): LanguageModelV4ToolResultPart {
  const text = JSON.stringify(output)
  return {
    type: 'tool-result',
    toolCallId,
    toolName,
    output:
      text.length > LONGEST_RESULT
        ? { type: 'json', value: { cut: true, beginning: text.slice(0, LONGEST_RESULT).toWellFormed() } }
        : { type: 'json', value: output },
  }
}

type SpokenPart = Exclude<MessagePart, { type: 'tool-result' }>

/** Splits parts into steps. The first part after a result begins a new step. */
function stepsOf(parts: readonly MessagePart[]): SpokenPart[][] {
  const steps: SpokenPart[][] = []
  let isNew = true
  for (const part of parts) {
    if (part.type === 'tool-result') isNew = true
    else if (part.type !== 'text' || part.text !== '') {
      if (isNew) steps.push([])
      steps.at(-1)?.push(part)
      isNew = false
    }
  }
  return steps
}

function toContent(part: SpokenPart): LanguageModelV4TextPart | LanguageModelV4ToolCallPart {
  // The markers refer to passages that the model no longer has.
  if (part.type === 'text') return { type: 'text', text: withoutMarkers(part.text) }
  const { toolCallId, toolName, input = {} } = part
  return { type: 'tool-call', toolCallId, toolName, input }
}
