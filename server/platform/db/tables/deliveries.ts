import type { Generated } from 'kysely'
import type { AiNotice } from './agents.ts'
import type { AttachmentNote } from './attachments.ts'
import type { ChannelName, MailPeople } from './channels.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

/** The content to send: Markdown as written, with HTML if a person wrote it, or an approved template. */
export type DeliveryContent = {
  text: string
  /** Set if a model wrote the text; links may only lead to these hosts. */
  linkHosts?: string[]
  html?: string
  /** The notice that an AI system answers, in plain text, which is sent with the first answer of a thread. */
  notice?: { text: string; place: AiNotice['place'] }
  attachments?: AttachmentNote[]
  /** The offer of an answer, which a channel with buttons shows as one. */
  offer?: { answerId: string; title: string }
  template?: DeliveredTemplate
  /** Whether it is sent even to people who have opted out, as the confirmation of that is. */
  evenOptedOut?: boolean
  /** The recipients of a mail: those that a person chose, or those that the agent's own went to once it was sent. */
  people?: MailPeople
  /** The subject of a mail that begins a thread. */
  subject?: string
  /** Messages of a ticket that are shown to somebody else; the mail belongs to no thread. */
  isForward?: true
  /** What a mail of a person ends with, in Markdown. It is no part of the text that the agent reads. */
  signature?: string
}

/** `isSettled` means that the outcome has been recorded in the conversation. */
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
