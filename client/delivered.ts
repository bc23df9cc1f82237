import type { AnswerEvent, AnswerMetadata } from './events.ts'

/** What a reader has already given to its consumer of one answer. */
export type Delivered = {
  messageId: string | undefined
  metadata: AnswerMetadata | undefined
  /** All deltas, of all blocks. */
  text: string
  openText: { id: string; length: number } | undefined
  /** toolCallId → how much of the call. */
  calls: Map<string, 'begun' | 'input' | 'output'>
  step: 'none' | 'open' | 'has-output'
  hasSources: boolean
  isFinished: boolean
}

export const nothingDelivered = (): Delivered => ({
  messageId: undefined,
  metadata: undefined,
  text: '',
  openText: undefined,
  calls: new Map(),
  step: 'none',
  hasSources: false,
  isFinished: false,
})

/** Takes note of one event; constant work, however long the answer is. */
export function noteEvent(delivered: Delivered, event: AnswerEvent): void {
  switch (event.type) {
    case 'start':
      delivered.messageId = event.messageId
      break
    case 'message-metadata':
      delivered.metadata = event.messageMetadata
      break
    case 'start-step':
      delivered.step = 'open'
      break
    case 'finish-step':
      delivered.step = 'none'
      break
    case 'text-start':
      delivered.openText = { id: event.id, length: 0 }
      break
    case 'text-delta':
      delivered.text += event.delta
      if (delivered.openText) delivered.openText.length += event.delta.length
      break
    case 'text-end':
      delivered.openText = undefined
      break
    case 'tool-input-start':
      delivered.calls.set(event.toolCallId, 'begun')
      break
    case 'tool-input-available':
      delivered.calls.set(event.toolCallId, 'input')
      break
    case 'tool-output-available':
      delivered.calls.set(event.toolCallId, 'output')
      delivered.step = 'has-output'
      break
    case 'data-sources':
      delivered.hasSources = true
      break
    case 'finish':
      delivered.isFinished = true
      break
    default:
    // Other events have nothing that a stored message could complete.
  }
}
