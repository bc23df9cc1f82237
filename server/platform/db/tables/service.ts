import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalId, Time } from './columns.ts'

export type DutiesTable = { name: string; next_at: Time }

export type JobsTable = {
  id: Generated<string>
  task: string
  tenant: string | null
  payload: Json<object>
  queued_at: Time
  run_at: Time
  process_id: OptionalId
  process_epoch: number | null
  claims: Generated<number>
  failures: Generated<number>
  outages: Generated<number>
}

export type SettingsTable = { name: string; value: Json<unknown>; updated_at: Time }

export type RequestsTable = {
  account_id: AccountId
  key: string
  fingerprint: string
  status: number | null
  answer: string | null
  generation_id: string | null
  delivery_id: string | null
  created_at: Time
}

export type ProcessesTable = {
  id: string
  epoch: Generated<number>
  beat: Generated<number>
  alive: Generated<boolean>
  beat_at: Time
  knows_left_out: Generated<boolean>
}
