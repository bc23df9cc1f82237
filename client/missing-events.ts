import { type Delivered, noteEvent, nothingDelivered } from './delivered.ts'
import type { AnswerEvent, StoredMessage, StoredPart } from './events.ts'

/**
 * The parts that the running or last generation added to a stored message: all but those of `before`, the same
 * message as it was when the generation began. Results for earlier calls are not among them.
 */
export function addedParts(stored: StoredMessage, before: StoredMessage | undefined): StoredPart[] {
  if (before?.id !== stored.id) return stored.parts
  const calls = new Set(before.parts.map((part) => (part.type === 'text' ? '' : part.toolCallId)))
  let texts = before.parts.filter(({ type }) => type === 'text').length
  return stored.parts.filter((part) => (part.type === 'text' ? texts-- <= 0 : !calls.has(part.toolCallId)))
}

/** Whether the parts hold all that was delivered; if not, the end of the generation is not stored yet. */
export function coversDelivered(parts: StoredPart[], delivered: Delivered): boolean {
  const known = new Set(parts.map((part) => (part.type === 'text' ? '' : part.toolCallId)))
  return (
    parts.length > 0 &&
    textIn(parts).startsWith(delivered.text) &&
    [...delivered.calls.keys()].every((id) => known.has(id))
  )
}

/** The events that are missing between what was delivered and the whole stored answer, `finish` included. */
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

/** Ends an answer of which no more will come. */
export function* closingEvents(
  delivered: Delivered,
  finishReason: string,
  ids: { messageId: string; conversationId: string },
): Generator<AnswerEvent, void> {
  yield* closeText(delivered)
  if (delivered.step !== 'none') yield noted(delivered, { type: 'finish-step' })
  yield noted(delivered, { type: 'finish', finishReason, messageMetadata: delivered.metadata ?? ids })
}

/** What earlier generations made of a message as events, in steps of their own; no page runs any of its calls. */
export function* earlierEvents({ parts, metadata }: StoredMessage): Generator<AnswerEvent, void> {
  const delivered = nothingDelivered()
  yield* partEvents(parts, delivered, new Set())
  if (metadata?.sources?.length) yield { type: 'data-sources', data: { sources: metadata.sources } }
  if (delivered.step !== 'none') yield { type: 'finish-step' }
}

/** `forPage`: the calls that the page has to run. */
function* partEvents(
  parts: StoredPart[],
  delivered: Delivered,
  forPage: Set<string>,
): Generator<AnswerEvent, void> {
  // Text that does not go on from what was shown cannot be shown without repeating some: it is left as it is.
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

/** Text and calls after the output of an action belong to the next step. */
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
