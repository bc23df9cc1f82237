import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { ConversationsTable, MessagesTable } from '../db/tables.ts'
import type { FinishReason } from './events.ts'
import type { CitedSource, Conversation, Message } from './schema.ts'

/** What an assistant message's metadata column holds. */
export type MessageMetadata = {
  score?: number
  sources?: Static<typeof CitedSource>[]
  finishReason?: FinishReason
  model?: string
  /** Of a message that a person of the team wrote. */
  author?: { type: 'human_agent'; name: string; memberId: string }
}

export const epochSeconds = (time: Date): number => Math.floor(time.getTime() / 1000)

export function presentConversation(row: Selectable<ConversationsTable>): Static<typeof Conversation> {
  return {
    id: row.id,
    title: row.title,
    createdAt: epochSeconds(row.created_at),
    updatedAt: epochSeconds(row.updated_at),
    userId: row.user_id,
    status: row.status,
    parentConversationId: row.parent_conversation_id,
    parentSummary: row.parent_summary,
  }
}

export function presentMessage(row: Selectable<MessagesTable>): Static<typeof Message> {
  const { score, sources, finishReason, author } = (row.metadata ?? {}) as MessageMetadata
  const shown = {
    ...(score === undefined ? {} : { score }),
    ...(sources?.length ? { sources } : {}),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(author ? { author: { type: author.type, name: author.name } } : {}),
  }
  return {
    id: row.id,
    role: row.role,
    parts: row.parts,
    createdAt: epochSeconds(row.created_at),
    ...(row.feedback ? { feedback: row.feedback } : {}),
    ...(Object.keys(shown).length > 0 ? { metadata: shown } : {}),
  }
}
