import { sql } from 'kysely'
import type { Db } from './database.ts'
import { json } from './statements/json.ts'

/** The settings of the installation: one row of JSON for each name. Those of an account or agent are columns of its row. */

/** Returns the value, or undefined when the setting does not exist. */
export async function readSetting(db: Db, name: string): Promise<unknown> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

/** Locks the setting until the transaction ends. */
export async function lockSetting(trx: Db, name: string): Promise<void> {
  await trx.selectFrom('settings').select('name').where('name', '=', name).forUpdate().execute()
}

/** Stores the value, whether the setting exists or not. */
export async function writeSetting(db: Db, name: string, value: unknown): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value: json(value) })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({ value: json(value), updated_at: new Date() }),
    )
    .execute()
}

/** Stores the value if the setting does not exist. */
export async function addSetting(db: Db, name: string, value: unknown): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name, value: json(value) })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Adds members to the object that is the value. Does nothing when the setting does not exist. */
export async function extendSetting(db: Db, name: string, members: object): Promise<void> {
  const value = sql<string>`value || ${json(members)}`
  await db.updateTable('settings').set({ value, updated_at: new Date() }).where('name', '=', name).execute()
}

/** Removes a member of the object that is the value. Does nothing when there is none. */
export async function dropFromSetting(db: Db, name: string, member: string): Promise<void> {
  await db
    .updateTable('settings')
    .set({ value: sql<string>`value - ${member}::text`, updated_at: new Date() })
    .where('name', '=', name)
    .where(sql<boolean>`jsonb_exists(value, ${member}::text)`)
    .execute()
}

export async function dropSetting(db: Db, name: string): Promise<void> {
  await db.deleteFrom('settings').where('name', '=', name).execute()
}
