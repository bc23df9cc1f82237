import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type ActionType = 'client' | 'http' | 'collect-leads' | 'escalate' | 'web-search'

/** The request of an http action; `headers` holds encrypted values. */
export type HttpRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  body: string | null
  timeoutMs: number
}

export type ActionsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  type: ActionType
  description: string
  enabled: boolean
  channels: Json<string[] | null>
  inputs: Json<Record<string, unknown>>
  http: Json<HttpRequest | null>
  created_at: Time
  updated_at: Time
}

export type ProcedureStep = { instruction: string; action: string | null }

export type ProceduresTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  trigger: string
  steps: Json<ProcedureStep[]>
  enabled: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type ProcedureRunsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string
  procedure_id: string | null
  name: string
  status: 'running' | 'completed' | 'failed' | 'abandoned'
  started_at: Time
  ended_at: OptionalTime
}

export type LeadsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  conversation_id: string | null
  /** The visitor who filled in the form of the chat on a website; null if an action collected the lead. */
  user_id: string | null
  name: string | null
  email: string | null
  phone: string | null
  created_at: Time
}
