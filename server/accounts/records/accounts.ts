import type { Db } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { asAccountId } from '../../platform/db/tables/columns.ts'
import { DEFAULT_PLAN, type PlanName } from '../plans/plans.ts'

type AccountSummary = {
  id: AccountId
  name: string
  plan: string
  /** The hours after which idle conversations end; null means the default. */
  idleHours: number | null
  createdAt: Date
}

export async function createAccount(db: Db, name: string, plan: PlanName = DEFAULT_PLAN): Promise<AccountId> {
  const id = asAccountId(newId())
  await db.insertInto('accounts').values({ id, name, plan }).execute()
  return id
}

/** Returns the account that a chat is charged to, with its plan. */
export const accountOf = (db: Db, id: AccountId): Promise<{ id: AccountId; plan: string }> =>
  db.selectFrom('accounts').select(['id', 'plan']).where('id', '=', id).executeTakeFirstOrThrow()

/** Returns whether the installation has no other account. */
export async function isOnlyAccount(db: Db, id: AccountId): Promise<boolean> {
  const other = await db.selectFrom('accounts').select('id').where('id', '!=', id).limit(1).executeTakeFirst()
  return other === undefined
}

export async function listAccounts(db: Db): Promise<AccountSummary[]> {
  const rows = await db.selectFrom('accounts').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(({ id, name, plan, idle_hours, created_at }) => ({
    id,
    name,
    plan,
    idleHours: idle_hours,
    createdAt: created_at,
  }))
}

/** The upper bound of accounts.idle_hours, in hours. */
export const MAX_IDLE_HOURS = 8_760

/** Sets the number of hours after which idle conversations of the account's channels end; null means the default. */
export async function setIdleHours(db: Db, accountId: AccountId, hours: number | null): Promise<void> {
  await db.updateTable('accounts').set({ idle_hours: hours }).where('id', '=', accountId).execute()
}

/** Changes an account's plan. Returns false when there is no account with this id. */
export async function changePlan(db: Db, accountId: AccountId, plan: PlanName): Promise<boolean> {
  const result = await db.updateTable('accounts').set({ plan }).where('id', '=', accountId).executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function setAccountName(db: Db, accountId: AccountId, name: string): Promise<void> {
  await db.updateTable('accounts').set({ name }).where('id', '=', accountId).execute()
}
