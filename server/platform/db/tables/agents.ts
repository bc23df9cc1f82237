import type { Generated } from 'kysely'
import type { ProcedureStep } from './actions.ts'
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

/** What makes a version of an agent; its sources by their ids. */
export type AgentSnapshot = {
  instructions: string
  channelInstructions: Record<string, unknown> | null
  model: string
  temp: number
  actions: {
    id: string
    name: string
    enabled: boolean
    description: string
    channels: string[] | null
  }[]
  procedures: { id: string; name: string; enabled: boolean; trigger: string; steps: ProcedureStep[] }[]
  sources: string[]
}

type SnapshotAction = AgentSnapshot['actions'][number]
type SnapshotProcedure = AgentSnapshot['procedures'][number]

/** What a draft changes of the live agent, by ids. A source is in the draft (true) or not. */
export type DraftChanges = Partial<Omit<AgentSnapshot, 'actions' | 'procedures' | 'sources'>> & {
  actions?: Record<string, Partial<Omit<SnapshotAction, 'id' | 'name'>>>
  procedures?: Record<string, Partial<Omit<SnapshotProcedure, 'id' | 'name'>>>
  sources?: Record<string, boolean>
}

export type AgentDraftsTable = {
  agent_id: string
  account_id: AccountId
  base: Json<AgentSnapshot>
  changes: Json<DraftChanges>
  actor: string
  created_at: Time
  updated_at: Time
}

export type AgentVersionsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  /** found: the live agent had been changed directly since the version before. */
  kind: 'published' | 'restored' | 'found'
  snapshot: Json<AgentSnapshot>
  /** A summary of what differs from the version before. */
  changed: string[]
  /** null: nobody knows who has changed the live agent. */
  actor: string | null
  created_at: Time
}

/** How customers are told that an AI system answers them. Without a text, it is a sentence in their language. */
export type AiNotice = { enabled: boolean; text: string | null; place: 'before' | 'after' }

/** What an agent may spend and say. */
export type Guardrails = {
  /** The money of a month (UTC), by the catalogue's prices. The owners are told at `alertShare` of it and at all of it. */
  budget: { dollars: number; alertShare: number; atLimit: 'tell' | 'stop' } | null
  /** What the model must not talk about. `say` is what it says instead; null: its own words. */
  forbiddenTopics: { topic: string; say: string | null; escalate: boolean }[]
  /** What happens on mail and messaging to an answer with values that its model was not given. */
  ungrounded: 'mark' | 'ask_again' | 'hold'
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
  /** The last day for which mails were requested, such as 2027-01-31. */
  notified_day: Generated<string | null>
  ip_rate_limits: Json<{ limit: number; timeframe: number; message: string }>
  spam_settings: Json<Record<string, unknown> | null>
  /** null: the default. */
  ai_notice: Json<AiNotice | null>
  blocked_countries: Json<string[] | null>
  voice_settings: Json<Record<string, unknown> | null>
  styles: Json<{ chat: Record<string, unknown>; centerStage: Record<string, unknown> }>
  knowledge_version: Generated<number>
  /** The embedding space whose vectors the search uses. */
  vector_space: string | null
  vectors_held_until: OptionalTime
  /** The words of its chunks are hashed with it: see knowledge/search/terms.ts. */
  terms_salt: Generated<string>
  /** Increases with every change to actions and procedures; 0 if the agent never had any. */
  tools_version: Generated<number>
  /** Whether solved tickets are sources. */
  ticket_knowledge: Generated<boolean>
  next_ticket_sync_at: OptionalTime
  /** null: conversations are kept for ever. */
  retention_days: number | null
  prompt_days: number | null
  redacts_payments: Generated<boolean>
  /** null: the defaults. */
  guardrails: Json<Guardrails | null>
  budget_told: Generated<string | null>
  last_trained_at: OptionalTime
  created_at: Time
  updated_at: Time
}

/** All agents, including deleted ones whose data has not been removed completely. */
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
