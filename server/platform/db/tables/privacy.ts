import type { Generated } from 'kysely'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

/** The identifiers by which an end user is found; every list may be empty. */
export type PersonNames = {
  /** User ids of conversations, and external ids of contacts. */
  userIds: string[]
  contactIds: string[]
  /** In lower case. */
  emails: string[]
  /** In E.164 format where they could be parsed. */
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
