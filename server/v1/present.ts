import type { Selectable } from 'kysely'
import { statusOf } from '../agents/records/present.ts'
import type { FullAgentRow } from '../agents/records/queries.ts'
import { textOf } from '../conversations/records/parts.ts'
import type { ConversationRow, MessageRow } from '../conversations/records/queries.ts'
import type { AttributeRow, ContactRow } from '../people/records/queries.ts'
import type { LeadsTable } from '../platform/db/tables/actions.ts'
import { type MayLink, withoutForeignLinks } from '../platform/text/safety/foreign-links.ts'
import { recordOf } from '../platform/unknown-values.ts'

export const presentChatbot = (row: FullAgentRow) => ({
  id: row.id,
  name: row.name,
  status: statusOf(row),
  model: row.model,
  instructions: row.instructions,
  visibility: row.visibility,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** Presents a conversation; the model's links are filtered as they were in the answers themselves. */
export const presentConversation = (row: ConversationRow, messages: MessageRow[], mayLink: MayLink) => ({
  id: row.external_id ?? row.id,
  chatbot_id: row.agent_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  source: row.source.toLowerCase(),
  messages: messages.map((message) => ({
    id: message.id,
    role: message.role,
    content: isOfModel(message) ? withoutForeignLinks(textOf(message), mayLink) : textOf(message),
    type: 'text',
  })),
})

const isOfModel = ({ role, metadata }: MessageRow): boolean =>
  role === 'assistant' && recordOf(metadata?.author).type !== 'human_agent'

export const presentLead = (row: Selectable<LeadsTable>) => ({
  id: row.id,
  name: row.name,
  email: row.email,
  phone: row.phone,
  created_at: row.created_at.toISOString(),
  chatbot_id: row.agent_id,
  account_id: row.account_id,
})

export const presentContact = (row: ContactRow) => ({
  id: row.id,
  external_id: row.external_id,
  name: row.name,
  email: row.email,
  phonenumber: row.phonenumber,
  custom_attributes: row.custom_attributes,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const presentAttribute = ({ name, label, type, description, archived }: AttributeRow) => ({
  name,
  label,
  type,
  description,
  archived,
})
