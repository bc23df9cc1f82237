import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

/** Where encrypted texts lie. */
const COLUMNS: Record<string, string> = {
  actions: `(http -> 'headers')::text`,
  pages_connections: 'access_token',
  messaging_accounts: `concat_ws(' ', access_token, app_secret, verify_token)`,
  email_connections: `concat_ws(' ', smtp_password, imap_password, inbound_secret, mark_key)`,
  identity_secrets: 'secret',
  login_secrets: 'secret',
}
/** Matches text that seal.ts has encrypted with a key other than these. */
const foreignTo = (keyIds: string[]): string =>
  `v[12]:(?!(?:${keyIds.join('|')}):)[A-Za-z0-9_-]{8}:[A-Za-z0-9_-]+:`

/** How many rows hold a text that another key than these encrypted. */
export async function countForeignRows(db: Db, keyIds: string[]): Promise<number> {
  const counts = Object.entries(COLUMNS).map(
    ([table, texts]) => sql`
      select count(*)::int as n from ${sql.table(table)}
      where ${sql.raw(texts)} ~ ${foreignTo(keyIds)}`,
  )
  const { rows } = await sql<{ n: number }>`
    select sum(n)::int as n from (${sql.join(counts, sql` union all `)}) as counted`.execute(db)
  return rows[0]?.n ?? 0
}
