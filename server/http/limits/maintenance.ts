import type { Db } from '../../db/database.ts'
import { json } from '../../db/statements/json.ts'
import { ApiError } from '../errors.ts'

const FRESH_MS = 500

export type Maintenance = {
  /** Throws SERVICE_UNDER_MAINTENANCE while the switch is on. */
  refuse(): Promise<void>
  set(on: boolean): Promise<void>
  isOn(): Promise<boolean>
}

/**
 * The maintenance switch: a row, so that it holds for every process, looked at again after half a second.
 * While the database cannot be asked, the last answer stands: during maintenance it may well be away.
 */
export function createMaintenance(db: Db): Maintenance {
  let on = false
  let checkedAt = 0
  let checking: Promise<void> | null = null

  const check = async (): Promise<void> => {
    try {
      const row = await db
        .selectFrom('settings')
        .select('value')
        .where('name', '=', 'maintenance')
        .executeTakeFirst()
      on = row?.value === true
    } catch {
      // The request's own queries will say what is wrong.
    }
    checkedAt = Date.now()
    checking = null
  }
  const refresh = async (): Promise<void> => {
    if (Date.now() - checkedAt < FRESH_MS) return
    checking ??= check()
    await checking
  }

  return {
    async refuse() {
      await refresh()
      if (on) throw new ApiError('SERVICE_UNDER_MAINTENANCE')
    },
    async set(next) {
      await db
        .insertInto('settings')
        .values({ name: 'maintenance', value: json(next) })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet({ value: json(next), updated_at: new Date() }),
        )
        .execute()
      on = next
      checkedAt = Date.now()
    },
    async isOn() {
      await check()
      return on
    },
  }
}
