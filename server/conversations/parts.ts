import type { GenerationsTable, MessagePart } from '../db/tables.ts'
import { IGNORED } from './tool-calls.ts'

type Result = Extract<MessagePart, { type: 'tool-result' }>
export type CallPart = Extract<MessagePart, { type: 'tool-call' }>

export const textOf = ({ parts }: { parts: readonly MessagePart[] }): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

export const resultsOf = (parts: readonly MessagePart[]): Map<string, Result> =>
  new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.toolCallId, part]] : [])))

/** The calls that have no result yet. */
export function unresolvedCalls(parts: readonly MessagePart[]): CallPart[] {
  const results = resultsOf(parts)
  return parts
    .filter((part) => part.type === 'tool-call')
    .filter(({ toolCallId }) => !results.has(toolCallId))
}

/**
 * What is kept of a turn that broke off. Of a reply, all of it. A retry leaves the answer that was there. A
 * continuation keeps what its actions did, and can be asked for again from there.
 */
export function keptOfBroken(kind: GenerationsTable['kind'], parts: readonly MessagePart[]): MessagePart[] {
  if (kind === 'reply') return [...parts]
  if (kind === 'retry') return []
  return parts.slice(0, parts.findLastIndex(({ type }) => type === 'tool-result') + 1)
}

/** Results for calls that nobody will answer any more: what is known of them, else `ignored`. */
export function closingResults(calls: CallPart[], known: ReadonlyMap<string, unknown> = new Map()): Result[] {
  return calls.map(({ toolCallId, toolName }) => ({
    type: 'tool-result',
    toolCallId,
    toolName,
    output: known.get(toolCallId) ?? IGNORED,
    providerExecuted: true,
  }))
}

/** What an application is shown: the calls that it runs itself and, if it asks for them, those of the service. */
export const shownParts = (parts: readonly MessagePart[], includeServerActions = false): MessagePart[] =>
  parts.filter((part) => includeServerActions || part.type === 'text' || !part.providerExecuted)
