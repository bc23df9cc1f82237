import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

/** The names that an end user is found by; every list may be empty. */
export type PersonNames = {
  /** Of conversations, and external ids of contacts. */
  userIds: string[]
  contactIds: string[]
  /** In small letters. */
  emails: string[]
  /** E.164 where they could be read. */
  phones: string[]
}

export type UserErasuresTable = {
  id: string
  account_id: AccountId
  status: 'running' | 'finished'
  person: Json<PersonNames | null>
  conversations: Generated<number>
  messages: Generated<number>
  leads: Generated<number>
  tickets: Generated<number>
  contacts: Generated<number>
  created_at: Time
  touched_at: Time
  finished_at: OptionalTime
}
