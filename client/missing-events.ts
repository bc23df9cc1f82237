import { type Delivered, noteEvent, nothingDelivered } from './delivered.ts'
import type { AnswerEvent, StoredMessage, StoredPart } from './events.ts'

/**
 * Returns the parts that the current or last generation added to a stored message. `before` is the same message as it
 * was when the generation started. The results of earlier calls are not included.
 */
export function addedParts(stored: StoredMessage, before: StoredMessage | undefined): StoredPart[] {
  if (before?.id !== stored.id) return stored.parts
  const calls = new Set(before.parts.map((part) => (part.type === 'text' ? '' : part.toolCallId)))
  let texts = before.parts.filter(({ type }) => type === 'text').length
  return stored.parts.filter((part) => (part.type === 'text' ? texts-- <= 0 : !calls.has(part.toolCallId)))
}

/**
 * Whether the parts contain everything that was delivered. If they do not, the end of the generation is not stored
 * yet.
 */
export function coversDelivered(parts: StoredPart[], delivered: Delivered): boolean {
  const known = new Set(parts.map((part) => (part.type === 'text' ? '' : part.toolCallId)))
  return (
    parts.length > 0 &&
    textIn(parts).startsWith(delivered.text) &&
    [...delivered.calls.keys()].every((id) => known.has(id))
  )
}

/** Yields the events that complete what was delivered to the whole stored answer, including `finish`. */
export function* missingEvents(
  stored: StoredMessage,
  parts: StoredPart[],
  delivered: Delivered,
  conversationId: string,
): Generator<AnswerEvent, void> {
  if (delivered.messageId === undefined) yield noted(delivered, { type: 'start', messageId: stored.id })
  yield* partEvents(parts, delivered, unresolvedIds(parts))
  const { sources, finishReason } = stored.metadata ?? {}
  if (sources?.length && !delivered.hasSources) {
    yield noted(delivered, { type: 'data-sources', data: { sources } })
  }
  const reason = finishReason ?? (unresolvedIds(parts).size > 0 ? 'tool-calls' : 'stop')
  yield* closingEvents(delivered, reason, { messageId: stored.id, conversationId })
}

/** Yields the events that end an answer that will not continue. */
export function* closingEvents(
  delivered: Delivered,
  finishReason: string,
  ids: { messageId: string; conversationId: string },
): Generator<AnswerEvent, void> {
  yield* closeText(delivered)
  if (delivered.step !== 'none') yield noted(delivered, { type: 'finish-step' })
  yield noted(delivered, { type: 'finish', finishReason, messageMetadata: delivered.metadata ?? ids })
}

/**
 * Yields the parts that earlier generations added to a message as events, in separate steps. The page runs none of
 * these calls.
 */
export function* earlierEvents({ parts, metadata }: StoredMessage): Generator<AnswerEvent, void> {
  const delivered = nothingDelivered()
  yield* partEvents(parts, delivered, new Set())
  if (metadata?.sources?.length) yield { type: 'data-sources', data: { sources: metadata.sources } }
  if (delivered.step !== 'none') yield { type: 'finish-step' }
}

/**
 * Yields the events of the parts that were not delivered yet. `forPage` holds the ids of the calls that the page has
 * to run.
 */
function* partEvents(
  parts: StoredPart[],
  delivered: Delivered,
  forPage: Set<string>,
): Generator<AnswerEvent, void> {
  // If the stored text does not continue the delivered text, sending it would repeat parts, so no more text is sent.
  let skip = textIn(parts).startsWith(delivered.text) ? delivered.text.length : Number.POSITIVE_INFINITY
  let texts = 0
  for (const part of parts) {
    if (part.type === 'text') {
      texts += 1
      if (part.text.length > skip) {
        if (delivered.openText?.length !== skip) yield* openStep(delivered)
        if (!delivered.openText) yield noted(delivered, { type: 'text-start', id: `stored-${texts}` })
        const id = delivered.openText?.id ?? `stored-${texts}`
        yield noted(delivered, { type: 'text-delta', id, delta: part.text.slice(skip) })
        yield* closeText(delivered)
      }
      skip = Math.max(0, skip - part.text.length)
      continue
    }
    const { toolCallId, toolName } = part
    const state = delivered.calls.get(toolCallId)
    const mark = forPage.has(toolCallId) ? {} : { providerExecuted: true }
    if (part.type === 'tool-call' && (state === undefined || state === 'begun')) {
      if (state === undefined) yield* openStep(delivered)
      const { input } = part
      yield noted(delivered, { type: 'tool-input-available', toolCallId, toolName, input, ...mark })
    } else if (part.type === 'tool-result' && state !== 'output') {
      yield* closeText(delivered)
      yield noted(delivered, { type: 'tool-output-available', toolCallId, output: part.output, ...mark })
    }
  }
}

/** Opens a step if none is open. Text and calls after the output of an action belong to a new step. */
function* openStep(delivered: Delivered): Generator<AnswerEvent, void> {
  yield* closeText(delivered)
  if (delivered.step === 'has-output') yield noted(delivered, { type: 'finish-step' })
  if (delivered.step === 'none') yield noted(delivered, { type: 'start-step' })
}

function* closeText(delivered: Delivered): Generator<AnswerEvent, void> {
  if (delivered.openText) yield noted(delivered, { type: 'text-end', id: delivered.openText.id })
}

function noted(delivered: Delivered, event: AnswerEvent): AnswerEvent {
  noteEvent(delivered, event)
  return event
}

const textIn = (parts: StoredPart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

export function unresolvedIds(parts: StoredPart[]): Set<string> {
  const ids = new Set(parts.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])))
  for (const part of parts) if (part.type === 'tool-result') ids.delete(part.toolCallId)
  return ids
}
