import type { Db } from '../server/platform/db/database.ts'

/**
 * Compares the ledger with what callers were told. It does so in a slow but obvious way, independently of the
 * product's own command.
 */
export async function reconcileByHand(db: Db): Promise<{ ledger: 'equal' | string; reserved: number }> {
  const entries = await db.selectFrom('credit_entries').selectAll().where('kind', '=', 'usage').execute()
  const generations = await db.selectFrom('generations').selectAll().execute()
  const settled = entries
    .filter(({ state }) => state === 'settled')
    .reduce((sum, { amount }) => sum + amount, 0)
  const used = generations.reduce((sum, { usage_credits }) => sum + usage_credits, 0)
  return {
    ledger: settled === used ? 'equal' : `ledger ${settled}, told ${used}`,
    reserved: entries.filter(({ state }) => state === 'reserved').length,
  }
}
