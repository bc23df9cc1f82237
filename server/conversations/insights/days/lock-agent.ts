import { sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'

// An arbitrary number that must be the same in every process.
const CLASS = 7_275

/**
 * Ensures that one transaction at a time changes an agent's topics and groups of questions. Acquire it before locking
 * any rows. No turn of a conversation waits for it.
 */
export async function lockInsights(trx: Trx, agentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLASS}::integer, hashtext(${agentId}))`.execute(trx)
}
