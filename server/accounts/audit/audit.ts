import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

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

const STRANGERS_KEPT_MS = 30 * 24 * 3_600_000
const MAX_STRANGERS = 10_000

/**
 * Deletes audit entries about refused sign-ins with addresses that have no login: those older than 30 days, and all but
 * the newest 10,000. Anybody can cause such entries, so they must not fill the database. It runs as a recurring job.
 */
export async function dropStrangersEntries(db: Db, most = MAX_STRANGERS): Promise<void> {
  const strangers = db
    .selectFrom('audit_log')
    .where('account_id', 'is', null)
    .where('action', '=', 'session.refuse')
  const oldest = await strangers
    .select(['created_at', 'id'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .offset(most)
    .limit(1)
    .executeTakeFirst()
  const before = new Date(Date.now() - STRANGERS_KEPT_MS)
  await db
    .deleteFrom('audit_log')
    .where('account_id', 'is', null)
    .where('action', '=', 'session.refuse')
    .where((eb) =>
      eb.or([
        eb('created_at', '<', before),
        ...(oldest
          ? [
              eb('created_at', '<', oldest.created_at),
              eb.and([eb('created_at', '=', oldest.created_at), eb('id', '<=', oldest.id)]),
            ]
          : []),
      ]),
    )
    .execute()
}
