import type { AnswerEvent, AnswerMetadata } from './events.ts'

/** The part of an answer that the reader has already delivered to its consumer. */
export type Delivered = {
  messageId: string | undefined
  metadata: AnswerMetadata | undefined
  /** All text deltas of all blocks, concatenated. */
  text: string
  openText: { id: string; length: number } | undefined
  /** Maps each toolCallId to how much of the call was delivered. */
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

/** Records one event, in constant time however long the answer is. */
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
    // Other events contain nothing that could be completed from a stored message.
  }
}
