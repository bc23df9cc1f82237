import type { GenerationsTable, MessagePart } from '../../db/tables/conversations.ts'
import { IGNORED } from './tool-calls.ts'

type Result = Extract<MessagePart, { type: 'tool-result' }>
export type CallPart = Extract<MessagePart, { type: 'tool-call' }>

export const textOf = ({ parts }: { parts: readonly MessagePart[] }): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

export const resultsOf = (parts: readonly MessagePart[]): Map<string, Result> =>
  new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part]] : [])))

/** Returns the calls that have no result yet. */
export function unresolvedCalls(parts: readonly MessagePart[]): CallPart[] {
  const results = resultsOf(parts)
  return parts
    .filter((part) => part.type === 'tool-call')
    .filter(({ toolCallId }) => !results.has(toolCallId))
}

/**
 * Returns what is kept of a turn that broke off. A reply is kept completely. A failed retry leaves the earlier
 * answer. A continuation keeps the results of its actions, and can be requested again from there.
 */
export function keptOfBroken(kind: GenerationsTable['kind'], parts: readonly MessagePart[]): MessagePart[] {
  if (kind === 'reply') return [...parts]
  if (kind === 'retry') return []
  return parts.slice(0, parts.findLastIndex(({ type }) => type === 'tool-result') + 1)
}

/** Returns results for calls that nobody will answer any more: what is known of them, else `ignored`. */
export function closingResults(calls: CallPart[], known: ReadonlyMap<string, unknown> = new Map()): Result[] {
  return calls.map(({ toolCallId, toolName }) => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: known.get(toolCallId) ?? IGNORED,
    providerExecuted: true,
  }))
}

/**
 * Returns the parts for an application: the calls that it runs itself and, if it asks for them, those of the service.
 */
export const shownParts = (parts: readonly MessagePart[], includeServerActions = false): MessagePart[] =>
  parts.filter((part) => includeServerActions || part.type === 'text' || !part.providerExecuted)
