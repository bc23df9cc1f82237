import type { Generated } from 'kysely'
import type { AttachmentNote } from './attachments.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type StatusCategory = 'new' | 'on_you' | 'on_customer' | 'on_hold' | 'closed' | 'cancelled'

export type Customer = {
  id: string | null
  name: string | null
  email: string | null
  phoneNumber: string | null
}

export type TicketsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  number: number
  subject: string | null
  description: string | null
  status_category: StatusCategory
  assignee_id: string | null
  customer: Json<Customer>
  metadata: Json<Record<string, unknown>>
  channel: string
  conversation_id: string | null
  priority: Generated<Priority>
  knowledge_excluded: Generated<boolean>
  created_at: Time
  updated_at: Time
  spam_at: OptionalTime
  last_message_at: OptionalTime
  /** null: the default of the category. */
  status_id: Generated<string | null>
  team_id: Generated<string | null>
  handed_back: Generated<boolean>
  /** When a snoozed ticket returns to the team. */
  wakes_at: OptionalTime
  /** When the ticket began to wait for the team; null while it does not. */
  waiting_since: OptionalTime
  /** When the first of its targets that were not met is due. */
  due_at: OptionalTime
  language: Generated<string | null>
}

export type TicketStatusesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  category: StatusCategory
  external_label: string
  internal_label: string
  color: string
  is_default: boolean
  position: number
  created_at: Time
}

export type TeamsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  is_default: Generated<boolean>
  created_at: Time
}

export type TeamMembersTable = { team_id: string; member_id: string; account_id: AccountId }

export type TicketTagsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  color: string
  created_at: Time
}

export type TaggedTicketsTable = { ticket_id: string; tag_id: string; account_id: AccountId }

export type SeenTicketsTable = {
  ticket_id: string
  member_id: string
  account_id: AccountId
  seen_until: Time
}

export type CannedRepliesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  content: string
  created_at: Time
  updated_at: Time
}

export type ClockKind = 'first_response' | 'next_response' | 'resolution'

export type Priority = 'none' | 'low' | 'normal' | 'high' | 'urgent'

/** Minutes within business hours. */
export type ClockTargets = Partial<Record<Priority, Partial<Record<ClockKind, number>>>>

export type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'

/** Times are local times `HH:MM` in the time zone, up to 24:00; holidays are `YYYY-MM-DD`. */
export type BusinessHours = {
  timeZone: string
  days: Partial<Record<Weekday, { from: string; to: string }[]>>
  holidays: string[]
}

export type HelpdeskSettingsTable = {
  agent_id: string
  account_id: AccountId
  targets: Json<ClockTargets>
  business_hours: Json<BusinessHours | null>
  survey_enabled: Generated<boolean>
  signature: string | null
  updated_at: Time
}

/** The parameters of a list over all agents. Lists are separated by commas, times are in minutes. */
type InboxQuery = {
  agentId?: string
  status?: string
  assigneeId?: string
  teamId?: string
  priority?: string
  channel?: string
  tag?: string
  language?: string
  attribute?: string
  mentionedId?: string
  unread?: boolean
  snoozed?: boolean
  target?: 'missed' | 'running'
  dueWithin?: number
  waitingFor?: number
  spam?: boolean
  sortBy?: 'updatedAt' | 'createdAt' | 'lastMessageAt' | 'waitingSince' | 'dueAt'
  order?: 'asc' | 'desc'
}

export type InboxViewsTable = {
  id: string
  account_id: AccountId
  /** The member whose own view it is; otherwise null. */
  member_id: string | null
  /** The team whose view it is; otherwise null. If both are null, everybody sees it. */
  team_id: string | null
  name: string
  query: Json<InboxQuery>
  created_at: Time
  updated_at: Time
}

export type BlockedSendersTable = {
  id: string
  account_id: AccountId
  agent_id: string
  sender: string
  created_at: Time
}

/**
 * A reply as it was requested. Of a new mail also `subject` and `name`; of a forward `content` is the note above it, and
 * `messageId` the message, if it is not all of them.
 */
export type HeldReply = {
  content: string
  attachments?: string[]
  to?: string[]
  cc?: string[]
  bcc?: string[]
  subject?: string
  name?: string
  messageId?: string
  /** The note of a held answer that it sends. */
  heldAnswerId?: string
}

export type HeldRepliesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  ticket_id: string | null
  kind: Generated<'reply' | 'forward' | 'mail'>
  author_id: string
  reply: Json<HeldReply>
  due_at: Time
  error: string | null
  created_at: Time
}

export type TicketClocksTable = {
  ticket_id: string
  kind: ClockKind
  account_id: AccountId
  agent_id: string
  target_minutes: number
  started_at: Time
  due_at: OptionalTime
  left_ms: number | null
  met_at: OptionalTime
  breached_at: OptionalTime
}

export type TicketSurveysTable = {
  id: string
  account_id: AccountId
  agent_id: string
  ticket_id: string
  token_hash: string
  rating: number | null
  comment: string | null
  created_at: Time
  answered_at: OptionalTime
}

export type TicketSender = {
  type: 'customer' | 'agent' | 'system'
  id: string | null
  name: string | null
  email: string | null
}

export type TicketMessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  ticket_id: string
  type: 'reply' | 'note' | 'event'
  sender: Json<TicketSender | null>
  /** HTML that the service has generated and sanitised. */
  content: string | null
  content_text: string | null
  attachments: Json<AttachmentNote[]>
  metadata: Json<Record<string, unknown> | null>
  /** The message of the conversation with the same content. */
  message_id: string | null
  created_at: Time
}

export type HelpdeskStreamsTable = { agent_id: string; account_id: AccountId; last_number: Generated<number> }

export type HelpdeskEventsTable = {
  agent_id: string
  number: number
  account_id: AccountId
  type: string
  data: Json<Record<string, unknown>>
  created_at: Time
}
