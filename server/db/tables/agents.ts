import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type InstructionVersionsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  instructions: string
  channel_instructions: Json<Record<string, unknown> | null>
  model: string
  temp: number
  actor: string | null
  created_at: Time
}

export type AgentsTable = {
  id: string
  account_id: AccountId
  name: string
  instructions: string
  channel_instructions: Json<Record<string, unknown> | null>
  model: string
  auto_retrain: Generated<boolean>
  temp: number
  visibility: 'public' | 'private'
  allowed_domains: Json<string[] | null>
  suggested_messages: Json<unknown[] | null>
  initial_messages: Json<string[]>
  credit_limit: number | null
  notifications_settings: Json<Record<string, unknown> | null>
  /** The last day whose mails were asked for, as 2027-01-31. */
  notified_day: Generated<string | null>
  ip_rate_limits: Json<{ limit: number; timeframe: number; message: string }>
  spam_settings: Json<Record<string, unknown> | null>
  blocked_countries: Json<string[] | null>
  voice_settings: Json<Record<string, unknown> | null>
  styles: Json<{ chat: Record<string, unknown>; centerStage: Record<string, unknown> }>
  knowledge_version: Generated<number>
  /** The embedding space whose vectors answer. */
  vector_space: string | null
  vectors_held_until: OptionalTime
  /** Moves with every change of actions and procedures; 0: the agent never had any. */
  tools_version: Generated<number>
  /** Solved tickets are sources. */
  ticket_knowledge: Generated<boolean>
  next_ticket_sync_at: OptionalTime
  /** null: conversations are kept for ever. */
  retention_days: number | null
  last_trained_at: OptionalTime
  created_at: Time
  updated_at: Time
}

/** Every agent, and deleted ones until nothing of them is left. */
export type AgentIdsTable = {
  id: string
  account_id: AccountId
}

export type PictureKind = 'icon' | 'profile'

export type AgentPicturesTable = {
  agent_id: string
  kind: PictureKind
  account_id: AccountId
  /** A square PNG. */
  bytes: Uint8Array
  tag: string
}
