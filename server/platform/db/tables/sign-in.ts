import type { Generated } from 'kysely'
import type { Role } from './accounts.ts'
import type { AccountId, Json, OptionalTime, Time } from './columns.ts'

export type LoginsTable = {
  id: string
  member_id: string
  name: string
  email: string
  email_verified: Generated<boolean>
  image: string | null
  /** The person of the identity provider to whom the login belongs; null: nobody has signed in through one. */
  issuer: string | null
  subject: string | null
  two_factor_enabled: Generated<boolean>
  created_at: Time
  updated_at: Time
}

export type LoginSessionsTable = {
  id: string
  login_id: string
  token: string
  ip_address: string | null
  user_agent: string | null
  expires_at: Time
  created_at: Time
  updated_at: Time
}

export type LoginCredentialsTable = {
  id: string
  login_id: string
  /** `credential` for a password. */
  provider_id: string
  subject: string
  password: string | null
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: OptionalTime
  refresh_token_expires_at: OptionalTime
  scope: string | null
  created_at: Time
  updated_at: Time
}

export type LoginSecondFactorsTable = {
  id: string
  login_id: string
  secret: string
  backup_codes: string
  verified: Generated<boolean | null>
  failed_verification_count: Generated<number | null>
  locked_until: OptionalTime
}

export type LoginChallengesTable = {
  id: string
  identifier: string
  value: string
  expires_at: Time
  created_at: Time
  updated_at: Time
}

export type LoginAttemptsTable = { bucket: string; count: number; ends_at: Time }

export type LoginSecretsTable = { name: string; secret: string; created_at: Time }

export type LoginLinksTable = {
  id: string
  account_id: AccountId
  kind: 'set-up' | 'invitation' | 'reset'
  token_hash: string
  email: string | null
  name: string | null
  role: Role | null
  agent_ids: Json<string[] | null>
  member_id: string | null
  created_by: string
  expires_at: Time
  created_at: Time
}
