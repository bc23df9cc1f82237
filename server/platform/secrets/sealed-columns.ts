import type { SecretLocation } from './seal.ts'

type SealedTable = {
  table:
    | 'pages_connections'
    | 'messaging_accounts'
    | 'email_connections'
    | 'identity_secrets'
    | 'login_secrets'
  /** The columns that identify the row together, in this order. */
  key: string[]
  columns: string[]
}

/** Lists every column with encrypted texts; the headers of actions have an entry of their own. */
export const sealedColumns: SealedTable[] = [
  { table: 'pages_connections', key: ['agent_id'], columns: ['access_token'] },
  {
    table: 'messaging_accounts',
    key: ['agent_id', 'business_account_id'],
    columns: ['access_token', 'app_secret', 'verify_token'],
  },
  {
    table: 'email_connections',
    key: ['agent_id'],
    columns: [
      'smtp_password',
      'imap_password',
      'inbound_secret',
      'mark_key',
      'oauth_client_secret',
      'oauth_refresh_token',
      'oauth_access_token',
    ],
  },
  { table: 'identity_secrets', key: ['agent_id'], columns: ['secret'] },
  { table: 'login_secrets', key: ['name'], columns: ['secret'] },
]

/** `row` contains the values of the primary key, joined with slashes. */
export const placeOfRow = (table: SealedTable['table'], row: string, column: string): SecretLocation => ({
  table,
  row,
  purpose: column,
})

/** Names of headers are not case-sensitive. */
export const placeOfHeader = (actionId: string, name: string): SecretLocation => ({
  table: 'actions',
  row: actionId,
  purpose: `header ${name.toLowerCase()}`,
})
