import { sql } from 'kysely'
import type { Db } from '../server/db/database.ts'

/** Compares the ledger with the messages by the slow obvious way, independent of the product's own command. */
export async function reconcileByHand(db: Db): Promise<{ ledger: 'equal' | string; reserved: number }> {
  const entries = await db.selectFrom('credit_entries').selectAll().where('kind', '=', 'usage').execute()
  const { rows } = await sql<{ credits: number | null }>`
    select (metadata->>'credits')::integer as credits from messages where role = 'assistant'`.execute(db)
  const settled = entries
    .filter(({ state }) => state === 'settled')
    .reduce((sum, { amount }) => sum + amount, 0)
  const used = rows.reduce((sum, { credits }) => sum + (credits ?? 0), 0)
  return {
    ledger: settled === used ? 'equal' : `ledger ${settled}, messages ${used}`,
    reserved: entries.filter(({ state }) => state === 'reserved').length,
  }
}
