import { sql } from 'kysely'
import type { Trx } from '../../db/database.ts'

// Any number, the same in every process.
const CLASS = 7_275

/**
 * Topics and groups of questions of an agent are changed by one transaction at a time. It is taken before any row is
 * locked, and no turn of a conversation waits for it.
 */
export async function lockInsights(trx: Trx, agentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${CLASS}::integer, hashtext(${agentId}))`.execute(trx)
}
