import type {
  JSONValue,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider'
import { withoutMarkers } from '../../../knowledge/search/answering/citations.ts'
import { type MessagePart, outcomes } from '../../../platform/db/tables/conversations.ts'
import { resultsOf, textOf } from '../../records/parts.ts'
import { type MessageMetadata, metadataOf, type Replay } from '../../records/present.ts'
import type { TranscriptMessage } from '../../records/queries.ts'
import { reportOf } from '../outcome-report.ts'
import { withoutKey } from './blocks.ts'

/**
 * The most characters of an action's result that a model is given. A longer one would crowd out the rest of the prompt.
 */
const MAX_RESULT_LENGTH = 24_000

type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>
type SpokenPart = Exclude<MessagePart, { type: 'tool-result' }>

/**
 * Converts a stored message to the messages a model reads. An assistant message becomes a sequence of steps, each with
 * its calls followed by a result for every one of them. Providers reject a history with an unanswered call, so a call
 * without a result is reported as ignored. Only the model that made a call, `modelId`, gets back what belongs to it.
 */
export function modelMessages(
  said: TranscriptMessage,
  { modelId, key }: { modelId: string; key: string },
): LanguageModelV4Message[] {
  if (said.role === 'user') {
    const text = withoutKey(textOf(said), key)
    return text === '' ? [] : [{ role: 'user', content: [{ type: 'text', text }] }]
  }
  const results = resultsOf(said.parts)
  const metadata = metadataOf(said)
  const ofCalls = metadata.model === modelId ? (metadata.replay ?? {}) : {}
  return stepsOf(said.parts).flatMap((step) => {
    const calls = step.filter((part) => part.type === 'tool-call')
    const spoken: AssistantMessage = {
      role: 'assistant',
      content: [
        ...calls.flatMap(({ toolCallId }) => ofCalls[toolCallId]?.reasoning ?? []),
        ...step.map((part) => toContent(part, ofCalls, metadata, key)),
      ],
    }
    if (calls.length === 0) return [withReport(spoken, metadata)]
    const answers = calls.map(({ toolCallId, toolName }): LanguageModelV4ToolResultPart => {
      const output = (results.get(toolCallId)?.output ?? { status: 'ignored' }) as JSONValue
      return toolResult({ id: toolCallId, name: toolName }, output, key)
    })
    return [spoken, { role: 'tool', content: answers }]
  })
}

/** Ends an answer with the report that its model wrote, because models write what they have written before. */
function withReport(spoken: AssistantMessage, { outcome, author }: MessageMetadata): AssistantMessage {
  const last = spoken.content.at(-1)
  const isReported = outcome && outcomes.includes(outcome) && !author
  if (!isReported || last?.type !== 'text') return spoken
  const ended = { ...last, text: `${last.text}\n${reportOf(outcome)}` }
  return { ...spoken, content: [...spoken.content.slice(0, -1), ended] }
}

/** Returns the result of a call as a model reads it. */
export function toolResult(
  { id: toolCallId, name: toolName }: { id: string; name: string },
  output: JSONValue,
  key: string,
): LanguageModelV4ToolResultPart {
  const whole = JSON.stringify(output)
  const text = withoutKey(whole, key)
  const value =
    text.length > MAX_RESULT_LENGTH
      ? { cut: true, beginning: text.slice(0, MAX_RESULT_LENGTH).toWellFormed() }
      : text === whole
        ? output
        : (JSON.parse(text) as JSONValue)
  return { type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } }
}

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

/** Models cite as they have cited before, so the markers of their own answers stay. Those of people mean nothing. */
function toContent(
  part: SpokenPart,
  replay: Record<string, Replay>,
  { author }: MessageMetadata,
  key: string,
): LanguageModelV4TextPart | LanguageModelV4ToolCallPart {
  if (part.type === 'text')
    return { type: 'text', text: withoutKey(author ? withoutMarkers(part.text) : part.text, key) }
  const { toolCallId, toolName, input = {} } = part
  const { options } = replay[toolCallId] ?? {}
  return { type: 'tool-call', toolCallId, toolName, input, ...(options ? { providerOptions: options } : {}) }
}
