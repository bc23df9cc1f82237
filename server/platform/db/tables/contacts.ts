import type { Generated } from 'kysely'
import type { AccountId, Json, Time } from './columns.ts'

export type ContactsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  external_id: string
  name: string | null
  email: string | null
  phonenumber: string | null
  custom_attributes: Json<Record<string, AttributeValue>>
  created_at: Time
  updated_at: Time
}

export type AttributeType = 'text' | 'number' | 'boolean' | 'date'

export type AttributeValue = string | number | boolean

export type CustomAttributesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  name: string
  type: AttributeType
  label: string
  description: string
  archived: Generated<boolean>
  created_at: Time
  updated_at: Time
}
