import type { Db } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { json } from '../../db/statements/json.ts'
import type { AccountId } from '../../db/tables/columns.ts'

type AuditEntry = {
  /** The account; null for an action on the whole installation. */
  accountId: AccountId | null
  /** `key:<id>`, `member:<id>` or `operator`. */
  actor: string
  /** The object and the verb, such as `agent.create`. */
  action: string
  target: string | null
  /** The names of changed fields, and values that are not secret. */
  detail?: Record<string, unknown>
}

/** Records who did what, in the transaction that does it. */
export async function recordAudit(
  trx: Db,
  { accountId, actor, action, target, detail }: AuditEntry,
): Promise<string> {
  const id = newId()
  await trx
    .insertInto('audit_log')
    .values({ id, account_id: accountId, actor, action, target, detail: json(detail ?? null) })
    .execute()
  return id
}

/** Removes an entry whose action was refused. */
export async function dropAudit(db: Db, accountId: AccountId, id: string): Promise<void> {
  await db.deleteFrom('audit_log').where('account_id', '=', accountId).where('id', '=', id).execute()
}
