import type { Generated } from 'kysely'
import type { ActionType } from './actions.ts'
import type { AgentSnapshot } from './agents.ts'
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
  /** What was said up to the message with the number `summarised_seq`; null if it is not summarised. */
  history_summary: Generated<string | null>
  summarised_seq: Generated<number>
  last_seq: Generated<number>
  generation_count: Generated<number>
  taken_over_by: string | null
  /** The thread of a conversation on a channel; null for the API, the playground and the widget. */
  thread_id: string | null
  /** The number of deleted messages; `last_seq` minus this is the number of messages. */
  cut_messages: Generated<number>
  /** null: not analysed yet, or not applicable. */
  sentiment: 'positive' | 'neutral' | 'negative' | null
  has_voice: Generated<boolean>
  /** Whether a ticket was ever opened for it, or a person ever took it over. */
  escalated: Generated<boolean>
  /** The caller's own name for it, unique per agent. */
  external_id: string | null
  contact_id: string | null
  /** Whether it exists only while its one reply is being generated. */
  transient: Generated<boolean>
  /** When it is due for analysis; null if it has been analysed in its present state. */
  analysis_due: OptionalTime
  analysis_held: OptionalTime
  analysis_tries: Generated<number>
  analysed_at: OptionalTime
  sentiment_by: Analyst | null
  topics_by: Analyst | null
  /** ISO 3166-1 alpha-2; null if the channel does not know it. */
  country: string | null
  /** The language and region that the visitor's browser asks for. */
  locale: Generated<string | null>
  /** The customer waits for an answer if the first is greater than the second; see the migration. */
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

/** What analysed a conversation: a chat model; `heuristic` are the word lists of former versions. */
export type Analyst = 'model' | 'heuristic'

/** How an answer ended. */
export const finishReasons = ['stop', 'error', 'tool-calls', 'length', 'content-filter', 'other'] as const
export type FinishReason = (typeof finishReasons)[number]

/** How its question ended. */
export const outcomes = ['answered', 'partly', 'not_found', 'handed_over', 'refused'] as const
export type AnswerOutcome = (typeof outcomes)[number]

export type MessagePart =
  | { type: 'text'; text: string }
  | ({ type: 'tool-call'; toolCallId: string; toolName: string; input?: unknown } & RunHere)
  | ({ type: 'tool-result'; toolCallId: string; toolName: string; output?: unknown } & RunHere)

/** Whether the service ran or closed the call itself, so that no application is or was asked for its result. */
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
  /** The number of the user message in the conversation. */
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
  /** The process that may write to it while it runs, with its epoch at the start. */
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

/**
 * Describes how an answer was generated, in the playground or for a customer. `has_prompt`: it holds the prompt of an
 * answer to a customer, which is kept for a time.
 */
export type AnswerCasesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  content: Json<unknown>
  /** The conversation that it was made of. */
  conversation_id: Generated<string | null>
  created_at: Time
  updated_at: Time
}

/** The conversation that a case of a run was made of. */
export type AnswerOriginsTable = {
  run_id: string
  place: number
  account_id: AccountId
  conversation_id: string
}

export type AnswerRunsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  status: 'running' | 'finished' | 'canceled' | 'stopped'
  settings: Json<unknown>
  cases: Json<unknown>
  /** null in runs of former versions. */
  snapshot: Json<AgentSnapshot | null>
  problem: string | null
  created_at: Time
  finished_at: OptionalTime
}

export type AnswerResultsTable = {
  run_id: string
  place: number
  repetition: number
  account_id: AccountId
  result: Json<unknown>
}

export type AnswerReviewsTable = {
  run_id: string
  place: number
  repetition: number
  judgement: string
  account_id: AccountId
  agrees: boolean
  note: string
  reviewer: string
  created_at: Time
}

export type AnswerSchedulesTable = {
  agent_id: string
  account_id: AccountId
  settings: Json<unknown>
  next_at: Date
  last_run_id: string | null
  alert: string | null
  is_told: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type PlaygroundRunsTable = {
  message_id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  made_of: Json<unknown>
  has_prompt: Generated<boolean>
  created_at: Time
}
