import type { AccountId, Time } from './columns.ts'

/** The encrypted secret with which a site signs the identity of its visitors. */
export type IdentitySecretsTable = {
  agent_id: string
  account_id: AccountId
  secret: string
  created_at: Time
}

/** A visitor whom the site has signed in, one row per token. */
export type VisitorIdentitiesTable = {
  agent_id: string
  account_id: AccountId
  token_hash: string
  visitor_id: string
  contact_id: string
  valid_until: Time
  token_until: Time
  created_at: Time
}
