import type { Static } from 'typebox'
import { typedOf } from '../../attachments/message-words.ts'
import { epochSeconds, type MessageMetadata } from '../../conversations/records/present.ts'
import type { ConversationRow, MessageRow } from '../../conversations/records/queries.ts'
import type { Addresses } from '../../conversations/records/source-address.ts'
import { type FinishMetadata, frameOf, type StreamEvent } from '../../conversations/stream/events.ts'
import { EVENTS, type Wire } from '../../conversations/stream/send-stream.ts'
import type { ConversationSummary, VisibleMessage } from './schema.ts'

/** A client action whose result the page owes. */
export type PendingCall = { id: string; message_id: string; name: string; input: unknown }

/** What was said before an action and after it stands apart. */
const saidIn = ({ parts }: MessageRow): string =>
  parts
    .flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []))
    .filter((text) => text !== '')
    .join('\n\n')

/** What the agent's own actions sent and got is the company's: a visitor sees none of it. */
export function visibleMessage(
  row: MessageRow,
  pending: PendingCall[],
  addresses: Addresses,
): Static<typeof VisibleMessage> {
  const { sources = [], author, attachments = [] } = (row.metadata ?? {}) as MessageMetadata
  return {
    id: row.id,
    role: row.role,
    text: typedOf(saidIn(row), attachments),
    createdAt: epochSeconds(row.created_at),
    feedback: row.feedback,
    sources: addresses.sources(row, sources),
    attachments: addresses.attachments(row, attachments),
    author: author?.name ?? null,
    pendingCalls: pending
      .filter(({ message_id }) => message_id === row.id)
      .map(({ id, name, input }) => ({ toolCallId: id, toolName: name, input })),
  }
}

export const visibleSummary = (row: ConversationRow): Static<typeof ConversationSummary> => ({
  id: row.id,
  title: row.title,
  status: row.status,
  createdAt: epochSeconds(row.created_at),
  updatedAt: epochSeconds(row.updated_at),
})

const HIDDEN = /^id: \d+\nevent: tool-/

const WITH_METADATA = /^id: (\d+)\nevent: (?:message-metadata|finish)\ndata: (.*)\n\n$/

/** What an answer costs, and by which id the company knows its visitor, is not for the visitor. */
function visibleFrame(frame: string): string {
  if (HIDDEN.test(frame)) return ''
  const [, id, data] = WITH_METADATA.exec(frame) ?? []
  if (data === undefined) return frame
  const event = JSON.parse(data) as Extract<StreamEvent, { type: 'finish' | 'message-metadata' }>
  const { messageId, userMessageId, conversationId } = event.messageMetadata
  const messageMetadata = { messageId, userMessageId, conversationId } as FinishMetadata
  return frameOf(Number(id), { ...event, messageMetadata })
}

/** The events of an answer without those of its actions; each keeps its number, for readers that come back. */
export const VISIBLE_EVENTS: Wire = { ...EVENTS, shape: () => ({ textOf: visibleFrame, isBroken: false }) }
