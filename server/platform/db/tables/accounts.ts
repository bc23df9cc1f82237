import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type AccountsTable = {
  id: AccountId
  name: string
  plan: string
  created_at: Time
  /** null: the default, see server/channels/replies/end-idle.ts. */
  idle_hours: number | null
}

export type Presence = 'online' | 'away' | 'offline'

export type MembersTable = {
  id: string
  account_id: AccountId
  email: string
  name: string
  created_at: Time
  /** The presence last reported; see presenceOf in server/accounts/records/members.ts. */
  presence: Generated<Presence>
  last_seen_at: OptionalTime
  last_assigned_at: OptionalTime
  role: Generated<Role>
  /** The agents that the member is limited to; null: no limit. */
  agent_ids: Json<string[] | null>
}

export type Role = 'owner' | 'admin' | 'builder' | 'support' | 'viewer'

export type ApiKeysTable = {
  id: string
  account_id: AccountId
  name: string
  prefix: string
  secret_hash: string
  /** What the key permits; null: everything in the account. */
  scopes: Json<string[] | null>
  expires_at: OptionalTime
  revoked_at: OptionalTime
  last_used_at: OptionalTime
  /** `member:<id>`, `key:<id>` or `operator`; null: it is not known. */
  created_by: string | null
  created_at: Time
}

export type CreditEntriesTable = {
  id: string
  account_id: AccountId
  agent_id: string | null
  generation_id: string | null
  kind: 'usage' | 'grant' | 'trial'
  state: 'reserved' | 'settled' | 'released'
  amount: number
  month: string
  created_at: Time
}

export type CreditUsageTable = {
  account_id: AccountId
  owner_id: string
  month: string
  slot: Generated<number>
  used: number
}

export type EmbeddingUsageTable = {
  account_id: AccountId
  day: Time
  agent_id: string
  model: string
  kind: 'passages' | 'questions' | 'trials'
  texts: number
  tokens: number
  estimated: number
  dollars: number | null
}

export type ModelUsageTable = {
  account_id: AccountId
  day: Time
  agent_id: string
  model: string
  calls: number
  input_tokens: number
  cached_tokens: number
  output_tokens: number
  reasoning_tokens: number
  dollars: number | null
  unpriced_calls: Generated<number>
}

export type ModelSideUsageTable = ModelUsageTable & { purpose: string }

export type AuditLogTable = {
  id: string
  account_id: AccountId | null
  actor: string
  action: string
  target: string | null
  created_at: Time
  detail: Json<Record<string, unknown> | null>
}
