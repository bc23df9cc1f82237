import type { Generated } from 'kysely'
import type { AttachmentNote } from './attachments.ts'
import type { ChannelName } from './channels.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

/** What is sent: Markdown as it was written, with HTML where a person wrote it; or an approved template. */
export type DeliveryContent = {
  text: string
  /** A model has written it: it may lead to these hosts alone. */
  linkHosts?: string[]
  html?: string
  attachments?: AttachmentNote[]
  template?: DeliveredTemplate
  /** Goes also to somebody who wants nothing more: the confirmation of that. */
  evenOptedOut?: boolean
}

/** `isSettled`: the conversation knows of it, as far as it should. */
type DeliveredTemplate = { name: string; language: string; isSettled: boolean }

export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'delivered' | 'read' | 'failed'

export type DeliveriesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  channel: ChannelName
  lane: string
  ordinal: number
  thread_id: string | null
  conversation_id: string | null
  ticket_id: string | null
  message_id: string | null
  ticket_message_id: string | null
  content: Json<DeliveryContent>
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  next_at: Time
  lease_until: OptionalTime
  maybe_sent: Generated<boolean>
  provider_message_id: string | null
  error: string | null
  created_at: Time
  updated_at: Time
}
