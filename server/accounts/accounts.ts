import type { Db } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { DEFAULT_PLAN, type PlanName } from './plans.ts'

export type AccountSummary = {
  id: AccountId
  name: string
  plan: string
  /** null: the usual limit. */
  idleHours: number | null
  createdAt: Date
}

export async function createAccount(db: Db, name: string, plan: PlanName = DEFAULT_PLAN): Promise<AccountId> {
  const id = newId() as AccountId
  await db.insertInto('accounts').values({ id, name, plan }).execute()
  return id
}

/** What a chat is charged by. */
export const accountOf = (db: Db, id: AccountId): Promise<{ id: AccountId; plan: string }> =>
  db.selectFrom('accounts').select(['id', 'plan']).where('id', '=', id).executeTakeFirstOrThrow()

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

/** Hours; the bounds of accounts.idle_hours. */
export const LONGEST_IDLE_HOURS = 8_760

/** After how many hours conversations of the account's channels end by idling; null: the usual limit. */
export async function setIdleHours(db: Db, accountId: AccountId, hours: number | null): Promise<void> {
  await db.updateTable('accounts').set({ idle_hours: hours }).where('id', '=', accountId).execute()
}

/** False when there is no account with this id. */
export async function changePlan(db: Db, accountId: AccountId, plan: PlanName): Promise<boolean> {
  const result = await db.updateTable('accounts').set({ plan }).where('id', '=', accountId).executeTakeFirst()
  return result.numUpdatedRows > 0n
}
