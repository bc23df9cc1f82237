import type { LanguageModelV4ReasoningPart, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { StoredSource } from '../../knowledge/search/answering/citations.ts'
import type { AttachmentNote } from '../../platform/db/tables/attachments.ts'
import type {
  AnswerOutcome,
  ConversationsTable,
  FinishReason,
  MessagesTable,
} from '../../platform/db/tables/conversations.ts'
import type { DeliveryStatus } from '../../platform/db/tables/deliveries.ts'
import type { Ungrounded } from '../prompt/ungrounded-values.ts'
import { shownParts } from './parts.ts'
import type { Conversation, Message } from './schema.ts'
import type { Addresses } from './source-address.ts'

/** The content of a message's metadata column. */
export type MessageMetadata = {
  score?: number | null
  outcome?: AnswerOutcome | null
  /** The topic that the owner forbids and the customer asked about, as the model reported it. */
  forbiddenTopic?: string
  /** Whom the answer offers to the customer; people are shown a way to accept. */
  offer?: 'person'
  sources?: StoredSource[]
  finishReason?: FinishReason
  model?: string
  /** Values of the answer that stand in nothing that its model was given. */
  ungrounded?: Ungrounded[]
  /** Whether the answer was held for a person. The message is then the sentence that the customer got instead. */
  isHeld?: true
  /** What a person has done with it; absent while it waits. */
  heldOutcome?: HeldOutcome
  /** Set when the answer ended without a word. People see a sentence in its place; the API shows it as it is. */
  isSilent?: true
  /** Set when the customer's message has a picture that the model was not shown, so that the team gets it. */
  isUnseen?: true
  /** Set when the documents of the agent were still being indexed, so that what was not found may be there. */
  isIndexing?: true
  /** Set when `model` answered in place of the agent's own model, whose provider failed. */
  isStandIn?: true
  /** The author of a message that a team member wrote. */
  author?: { type: 'human_agent'; name: string; memberId: string }
  /** Set when a channel could not deliver the message, or not to everybody. */
  delivery?: { status: DeliveryStatus; error: string | null }
  /** The files attached to the message. */
  attachments?: AttachmentNote[]
  /** Of a message of a channel: when its author has last edited, or has deleted it (ISO times). */
  editedAt?: string
  deletedAt?: string
  /** Of a customer's message: the answer whose offer it accepts. */
  accepts?: string
  /** What has to be sent back to `model` with its calls, by the id of the call. It is shown to nobody. */
  replay?: Record<string, Replay>
  /** How many tokens the provider of `model` counts for each that is estimated. It is shown to nobody. */
  tokenRatio?: number
  /** What the model thought before it answered. It is shown to the team alone. */
  reasoning?: string
}

/** Whether a held answer was sent as it was or after a change, or was discarded, by whom, and when (ISO time). */
export type HeldOutcome = {
  what: 'sent' | 'changed' | 'discarded'
  by: { id: string; name: string }
  at: string
}

/** What has to go back to a provider with a call: its signature, and the reasoning before the first call of a step. */
export type Replay = { options?: SharedV4ProviderOptions; reasoning?: LanguageModelV4ReasoningPart[] }

export const metadataOf = (row: { metadata?: unknown } | null | undefined): MessageMetadata =>
  (row?.metadata ?? {}) as MessageMetadata

/** The names that earlier versions stored for two of the outcomes. */
const EARLIER_NAMES: Record<string, AnswerOutcome> = { closest: 'partly', declined: 'not_found' }

export const presentedOutcome = (outcome: AnswerOutcome | null | undefined): AnswerOutcome | null =>
  outcome ? (EARLIER_NAMES[outcome] ?? outcome) : null

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

export function presentMessage(
  row: Selectable<MessagesTable>,
  addresses: Addresses,
  { includeServerActions = false, includeReasoning = false } = {},
): Static<typeof Message> {
  const {
    score = null,
    outcome = null,
    forbiddenTopic,
    isHeld,
    heldOutcome,
    offer,
    sources,
    ungrounded,
    finishReason,
    author,
    attachments = [],
    model,
    isStandIn,
    delivery,
    reasoning,
    editedAt,
    deletedAt,
  } = metadataOf(row)
  const shown = {
    score,
    outcome: presentedOutcome(outcome),
    ...(forbiddenTopic ? { forbiddenTopic } : {}),
    ...(isHeld ? { held: true as const } : {}),
    ...(heldOutcome ? { heldOutcome } : {}),
    ...(offer ? { offer } : {}),
    ...(sources?.length ? { sources: addresses.sources(row, sources) } : {}),
    ...(ungrounded ? { ungrounded } : {}),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(isStandIn && model !== undefined ? { model } : {}),
    ...(includeReasoning && reasoning !== undefined ? { reasoning } : {}),
    ...(delivery ? { delivery } : {}),
    ...(author ? { author: { type: author.type, name: author.name } } : {}),
  }
  return {
    id: row.id,
    role: row.role,
    parts: shownParts(row.parts, includeServerActions),
    createdAt: epochSeconds(row.created_at),
    ...(editedAt === undefined ? {} : { editedAt: epochSeconds(new Date(editedAt)) }),
    ...(deletedAt === undefined ? {} : { deletedAt: epochSeconds(new Date(deletedAt)) }),
    ...(row.feedback ? { feedback: row.feedback } : {}),
    ...(attachments.length > 0 ? { attachments: addresses.attachments(row, attachments) } : {}),
    ...(row.role === 'assistant' ? { metadata: shown } : {}),
  }
}
