import type { Static } from 'typebox'
import { typedOf } from '../../../conversations/attachments/message-words.ts'
import { epochSeconds, metadataOf } from '../../../conversations/records/present.ts'
import type { ConversationRow, MessageRow } from '../../../conversations/records/queries.ts'
import type { Addresses } from '../../../conversations/records/source-address.ts'
import { type FinishMetadata, frameOf, type StreamEvent } from '../../../conversations/stream/reading.ts'
import { EVENTS, type Wire } from '../../../conversations/stream/send-stream.ts'
import type { ConversationSummary, VisibleMessage } from './schema.ts'

/** A client action whose result the page still has to send. */
export type PendingCall = { id: string; message_id: string; name: string; input: unknown }

/** Text before and after an action is shown as separate paragraphs. */
const saidIn = ({ parts }: MessageRow): string =>
  parts
    .flatMap((part) => (part.type === 'text' ? [part.text.trim()] : []))
    .filter((text) => text !== '')
    .join('\n\n')

/** Inputs and outputs of the agent's own actions belong to the company, so a visitor sees none of them. */
export function visibleMessage(
  row: MessageRow,
  pending: PendingCall[],
  addresses: Addresses,
): Static<typeof VisibleMessage> {
  const { sources = [], author, attachments = [], isSilent = false, offer = null } = metadataOf(row)
  return {
    id: row.id,
    role: row.role,
    text: typedOf(saidIn(row), attachments),
    createdAt: epochSeconds(row.created_at),
    feedback: row.feedback,
    sources: addresses.sources(row, sources),
    attachments: addresses.attachments(row, attachments),
    author: author?.name ?? null,
    isSilent,
    offer,
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

/** Visitors do not see what an answer costs, nor the id by which the company knows them. */
function visibleFrame(frame: string): string {
  if (HIDDEN.test(frame)) return ''
  const [, id, data] = WITH_METADATA.exec(frame) ?? []
  if (data === undefined) return frame
  const event: Extract<StreamEvent, { type: 'finish' | 'message-metadata' }> = JSON.parse(data)
  const { messageId, userMessageId, conversationId } = event.messageMetadata
  const messageMetadata = { messageId, userMessageId, conversationId } as FinishMetadata
  return frameOf(Number(id), { ...event, messageMetadata })
}

/**
 * Filters an answer's events, leaving out those of its actions. Each event keeps its number, for readers that
 * reconnect.
 */
export const VISIBLE_EVENTS: Wire = { ...EVENTS, shape: () => ({ textOf: visibleFrame, isBroken: false }) }
