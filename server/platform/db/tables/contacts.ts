import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

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

export type ContactIdentitiesTable = {
  id: string
  account_id: AccountId
  agent_id: string
  contact_id: string
  /** Rows with the same value are one person by what the channel has said. */
  person: string
  channel: 'messaging'
  kind: 'phone' | 'user' | 'parent_user'
  value: string
  scope: string
  username: string | null
  stated_by: string
  created_at: Time
  replaced_at: OptionalTime
}

/** Ids of what a join has moved from one contact to another. */
export type MovedByJoin = {
  identities: string[]
  threads: string[]
  conversations: string[]
  tickets: string[]
}

/** The fields of a contact, as the table has them. */
export type ContactFields = Pick<ContactsTable, 'external_id' | 'name' | 'email' | 'phonenumber'> & {
  custom_attributes: Record<string, AttributeValue>
}

export type ContactJoinsTable = {
  id: string
  account_id: AccountId
  agent_id: string
  contact_id: string
  joined_contact_id: string
  joined: Json<ContactFields>
  kept: Json<ContactFields>
  moved: Json<MovedByJoin>
  stated_by: string
  created_at: Time
  undone_at: OptionalTime
}
