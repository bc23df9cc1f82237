import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'
import type { Analyst } from './conversations.ts'

export type ConversationTopicsTable = {
  account_id: AccountId
  agent_id: string
  conversation_id: string
  /** The name of the topic. */
  name: string
  topic_id: string | null
}

export type TopicsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  key: string
  description: string
  /** Names of topics that were merged into it. */
  aliases: Json<string[]>
  origin: 'manual' | Analyst
  created_at: Time
  updated_at: Time
}

export type TopicSettingsTable = {
  agent_id: string
  account_id: AccountId
  frozen: Generated<boolean>
  /** Keys of deleted topics. */
  declined: Json<string[]>
}

export type TopicCandidatesTable = {
  conversation_id: string
  key: string
  account_id: AccountId
  agent_id: string
  label: string
  origin: Analyst
  created_at: Time
}

export type UnansweredGroupsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  question: string
  key: string
  status: Generated<'open' | 'answered' | 'dismissed'>
  source_id: string | null
  answered_at: OptionalTime
  count: Generated<number>
  last_asked_at: Date
  /** When the agent was asked again, because its knowledge had grown, and with which version of it. */
  asked_again_at: OptionalTime
  asked_again_version: Generated<number | null>
  /** How often it was asked again on the day (UTC) of `asked_again_at`. */
  asked_again_count: Generated<number>
}

export type UnansweredQuestionsTable = {
  message_id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  group_id: string
  question: string
  suggested_answer: string | null
  asked_at: Date
}

type Counts = Json<Record<string, number>>

/** The figures of one UTC day, computed again from the rows that they count whenever the day is stale. */
export type InsightDaysTable = {
  agent_id: string
  /** YYYY-MM-DD when written; read it as text. */
  day: string
  account_id: AccountId
  is_stale: boolean
  computed_at: OptionalTime
  took_ms: Generated<number>
  conversations: Generated<number>
  positive: Generated<number>
  neutral: Generated<number>
  negative: Generated<number>
  settled: Generated<number>
  escalated: Generated<number>
  deflected: Generated<number>
  topics: Counts
  sources: Counts
  countries: Counts
  outcomes: Counts
  user_messages: Generated<number>
  assistant_messages: Generated<number>
  person_messages: Generated<number>
  rated_positive: Generated<number>
  rated_negative: Generated<number>
  unanswered: Generated<number>
  credits: Generated<number>
}

export type InsightsQueueTable = {
  id: Generated<number>
  agent_id: string
  day: string | null
  conversation_id: string | null
  group_id: string | null
}
