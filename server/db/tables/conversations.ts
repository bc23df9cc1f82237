import type { Generated } from 'kysely'
import type { ActionType } from './actions.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type ConversationStatus = 'ongoing' | 'ended' | 'taken_over' | 'paused'

export type ConversationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  source: string
  user_id: string | null
  title: string | null
  status: ConversationStatus
  embed_origin: string | null
  parent_conversation_id: string | null
  parent_summary: string | null
  last_seq: Generated<number>
  generation_count: Generated<number>
  taken_over_by: string | null
  /** Where it is held on a channel; null: the API, the playground, the widget. */
  thread_id: string | null
  /** Deleted messages: `last_seq` less these is how many there are. */
  cut_messages: Generated<number>
  /** null: not looked at yet, or none. */
  sentiment: 'positive' | 'neutral' | 'negative' | null
  has_voice: Generated<boolean>
  /** A ticket was opened for it, or a person took it over, some time. */
  escalated: Generated<boolean>
  /** The caller's own name for it, unique per agent. */
  external_id: string | null
  contact_id: string | null
  /** Exists only while its one reply is being made. */
  transient: Generated<boolean>
  /** null: looked at in its present state. */
  analysis_due: OptionalTime
  analysis_held: OptionalTime
  analysis_tries: Generated<number>
  analysed_at: OptionalTime
  sentiment_by: Analyst | null
  topics_by: Analyst | null
  /** ISO 3166-1 alpha-2, where the channel knows it. */
  country: string | null
  /** The customer waits for an answer when the first is greater; see the migration. */
  asked_seq: Generated<number>
  answered_seq: Generated<number>
  answer_tries: Generated<number>
  answer_starts: Generated<number>
  continuations: Generated<number>
  answer_stopped: Generated<boolean>
  answer_swept_at: OptionalTime
  created_at: Time
  updated_at: Time
}

/** Who looked at a conversation: a chat model, or lists of words. */
export type Analyst = 'model' | 'heuristic'

export type MessagePart =
  | { type: 'text'; text: string }
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown } & RunHere)
  | ({ type: 'tool-result'; toolCallId: string; toolName: string; output?: unknown } & RunHere)

/** The service ran the call itself, or closed it: no application is or was asked for its result. */
type RunHere = { providerExecuted?: true }

export type MessagesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  seq: number
  role: 'user' | 'assistant'
  parts: Json<MessagePart[]>
  metadata: Json<Record<string, unknown> | null>
  feedback: 'positive' | 'negative' | null
  created_at: Time
}

export type GenerationsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  user_message_id: string
  /** The number of that message in the conversation. */
  asked_seq: Generated<number>
  message_id: string
  model: string
  status: 'running' | 'finished' | 'failed' | 'interrupted'
  finish_reason: string | null
  credits: number
  kind: 'reply' | 'continuation' | 'retry'
  first_event: Generated<number>
  usage_credits: Generated<number>
  message_state: Generated<'none' | 'stored' | 'cut'>
  parts_from: Generated<number>
  parts_count: Generated<number>
  cut_from: number | null
  cut_to: number | null
  stop_reason: StopReason | null
  /** The process that may write to it while it runs, with the epoch that it had then. */
  owner: string | null
  epoch: Generated<number>
  started_at: Time
  finished_at: OptionalTime
}

/** Why somebody ended a running generation: `stop` keeps what was said, `takeover` drops it. */
export type StopReason = 'stop' | 'takeover'

export type ToolCallStatus = 'pending' | 'success' | 'error' | 'ignored'

export type ToolCallsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  message_id: string
  generation_id: string
  name: string
  type: ActionType
  input: Json<unknown>
  output: Json<unknown>
  status: ToolCallStatus
  created_at: Time
  resolved_at: OptionalTime
  expires_at: OptionalTime
}

export type GenerationLogTable = {
  generation_id: string
  account_id: AccountId
  position: number
  events: string
  ending: string | null
}

/** What an answer that was tried out is made of. */
export type PlaygroundRunsTable = {
  message_id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  made_of: Json<unknown>
  created_at: Time
}
