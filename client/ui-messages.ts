import type { UIMessage } from 'ai'
import type { StoredMessage } from './events.ts'
import { unresolvedIds } from './missing-events.ts'

/** A part of a UIMessage that represents a call of an action. */
export type ToolPart = {
  type: `tool-${string}`
  toolCallId: string
  state: string
  input?: unknown
  output?: unknown
  errorText?: string
  preliminary?: boolean
  providerExecuted?: boolean
}

export type PendingCall = { toolCallId: string; toolName: string; input: unknown }

/**
 * Converts stored messages to initial messages for useChat. Calls without a result are `input-available`, because the
 * page still has to run them (see pendingToolCalls).
 */
export const toUIMessages = (messages: StoredMessage[], conversationId: string): UIMessage[] =>
  messages.map((message) => ({
    id: message.id,
    role: message.role,
    metadata: { conversationId },
    parts: message.role === 'user' ? textParts(message) : answerParts(message),
  }))

const textParts = ({ parts }: StoredMessage): UIMessage['parts'] =>
  parts.flatMap((part) => (part.type === 'text' ? [{ type: 'text', text: part.text }] : []))

function answerParts({ parts, metadata }: StoredMessage): UIMessage['parts'] {
  const outputs = new Map(
    parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part.output]] : [])),
  )
  const unresolved = unresolvedIds(parts)
  const shown: UIMessage['parts'] = [{ type: 'step-start' }]
  let hasOutput = false
  for (const part of parts) {
    if (part.type === 'tool-result') hasOutput = true
    else {
      if (hasOutput) shown.push({ type: 'step-start' })
      hasOutput = false
      if (part.type === 'text') shown.push({ type: 'text', text: part.text, state: 'done' })
      else {
        const call = {
          type: `tool-${part.toolName}` as const,
          toolCallId: part.toolCallId,
          input: part.input,
        }
        // A call that has a result is complete for the page, no matter who ran it.
        shown.push(
          unresolved.has(part.toolCallId)
            ? { ...call, state: 'input-available' }
            : {
                ...call,
                state: 'output-available',
                output: outputs.get(part.toolCallId),
                providerExecuted: true,
              },
        )
      }
    }
  }
  if (metadata?.sources?.length) shown.push({ type: 'data-sources', data: { sources: metadata.sources } })
  return shown
}

export const toolPartsOf = (message: UIMessage): ToolPart[] =>
  message.parts.filter(({ type }) => type.startsWith('tool-')) as ToolPart[]

/** Returns the calls that the page has to run, which are those of the newest message if it is an answer. */
export function pendingToolCalls(messages: UIMessage[]): PendingCall[] {
  const newest = messages.at(-1)
  if (newest?.role !== 'assistant') return []
  return toolPartsOf(newest)
    .filter(({ state, providerExecuted }) => state === 'input-available' && !providerExecuted)
    .map(({ type, toolCallId, input }) => ({ toolCallId, toolName: type.slice('tool-'.length), input }))
}

/** Returns the results of the calls of a message that the page has run. */
export const pageResults = (message: UIMessage): { toolCallId: string; output: unknown }[] =>
  toolPartsOf(message)
    .filter(
      ({ state, preliminary, providerExecuted }) =>
        !providerExecuted && !preliminary && (state === 'output-available' || state === 'output-error'),
    )
    .map(({ toolCallId, state, output, errorText }) => ({
      toolCallId,
      output: state === 'output-error' ? { status: 'error', error: errorText } : output,
    }))

/** Returns the text of a user message. Throws for messages with files, because agents read text only. */
export function messageText({ parts }: UIMessage): string {
  if (parts.some(({ type }) => type === 'file'))
    throw new Error('Files cannot be sent to an agent, only text.')
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Returns the id of the conversation in the messages' metadata. */
export function conversationIn(messages: UIMessage[]): string | undefined {
  const idOf = ({ metadata }: UIMessage) =>
    (metadata as { conversationId?: string } | undefined)?.conversationId
  const last = messages.findLast((message) => idOf(message) !== undefined)
  return last && idOf(last)
}
