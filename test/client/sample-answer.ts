import type { AnswerEvent, AnswerMetadata, StoredMessage } from '../../client/events.ts'

/** An answer of two steps with a server-side action, as a stream and as stored. */
export const ids: AnswerMetadata = {
  messageId: 'answer-1',
  userMessageId: 'question-1',
  conversationId: 'conversation-1',
  userId: null,
  usage: { credits: 1 },
}

const sources = [{ id: 'source-1', name: 'Handbook', url: null, score: 0.9 }]
const output = { status: 'success', data: { open: true } }
const call = { toolCallId: 'call-1', toolName: 'opening_hours' }

export const answerEvents: AnswerEvent[] = [
  { type: 'start', messageId: ids.messageId },
  { type: 'message-metadata', messageMetadata: ids },
  { type: 'start-step' },
  { type: 'text-start', id: 'text-1' },
  { type: 'text-delta', id: 'text-1', delta: 'Let me ' },
  { type: 'text-delta', id: 'text-1', delta: 'look.' },
  { type: 'text-end', id: 'text-1' },
  { type: 'tool-input-start', ...call, providerExecuted: true },
  { type: 'tool-input-delta', toolCallId: call.toolCallId, inputTextDelta: '{"day":' },
  { type: 'tool-input-delta', toolCallId: call.toolCallId, inputTextDelta: '"Monday"}' },
  { type: 'tool-input-available', ...call, input: { day: 'Monday' }, providerExecuted: true },
  { type: 'tool-output-available', toolCallId: call.toolCallId, output, providerExecuted: true },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'text-start', id: 'text-4' },
  { type: 'text-delta', id: 'text-4', delta: 'We are ' },
  { type: 'text-delta', id: 'text-4', delta: 'open.' },
  { type: 'text-end', id: 'text-4' },
  { type: 'data-sources', data: { sources } },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop', messageMetadata: ids },
]

export const question: StoredMessage = {
  id: 'question-1',
  role: 'user',
  parts: [{ type: 'text', text: 'Are you open on Monday?' }],
  createdAt: 1_767_225_600,
}

export const storedAnswer: StoredMessage = {
  id: ids.messageId,
  role: 'assistant',
  parts: [
    { type: 'text', text: 'Let me look.' },
    { type: 'tool-call', ...call, input: { day: 'Monday' } },
    { type: 'tool-result', ...call, output },
    { type: 'text', text: 'We are open.' },
  ],
  createdAt: 1_767_225_601,
  metadata: { score: 0.9, sources },
}

/** An answer that waits for a client action, and its continuation after the action's result. */
const pageCall = { toolCallId: 'call-2', toolName: 'show_map' }

export const waitingAnswer: StoredMessage = {
  id: 'answer-2',
  role: 'assistant',
  parts: [
    { type: 'text', text: 'Here is a map.' },
    { type: 'tool-call', ...pageCall, input: { zoom: 3 } },
  ],
  createdAt: 1_767_225_700,
}

export const waitingEvents: AnswerEvent[] = [
  { type: 'start', messageId: waitingAnswer.id },
  { type: 'message-metadata', messageMetadata: { ...ids, messageId: waitingAnswer.id } },
  { type: 'start-step' },
  { type: 'text-start', id: 'text-1' },
  { type: 'text-delta', id: 'text-1', delta: 'Here is a map.' },
  { type: 'text-end', id: 'text-1' },
  { type: 'tool-input-start', ...pageCall },
  { type: 'tool-input-available', ...pageCall, input: { zoom: 3 } },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'tool-calls', messageMetadata: { ...ids, messageId: waitingAnswer.id } },
]

export const continuedAnswer: StoredMessage = {
  ...waitingAnswer,
  parts: [
    ...waitingAnswer.parts,
    { type: 'tool-result', ...pageCall, output: 'shown' },
    { type: 'text', text: 'Can you see it?' },
  ],
}

export const continuationEvents: AnswerEvent[] = [
  { type: 'start', messageId: waitingAnswer.id },
  { type: 'message-metadata', messageMetadata: { ...ids, messageId: waitingAnswer.id } },
  { type: 'start-step' },
  { type: 'text-start', id: 'text-1' },
  { type: 'text-delta', id: 'text-1', delta: 'Can you ' },
  { type: 'text-delta', id: 'text-1', delta: 'see it?' },
  { type: 'text-end', id: 'text-1' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop', messageMetadata: { ...ids, messageId: waitingAnswer.id } },
]
