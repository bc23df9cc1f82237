import type { Db } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'

export type AuditEntry = {
  /** null: the whole installation. */
  accountId: AccountId | null
  /** `key:<id>`, `member:<id>` or `operator`. */
  actor: string
  /** Thing and verb, as `agent.create`. */
  action: string
  target: string | null
}

/** Notes who did what, in the transaction that does it. */
export async function recordAudit(trx: Db, { accountId, actor, action, target }: AuditEntry): Promise<void> {
  await trx
    .insertInto('audit_log')
    .values({ id: newId(), account_id: accountId, actor, action, target })
    .execute()
}
