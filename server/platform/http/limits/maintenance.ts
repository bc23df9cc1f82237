import type { Db } from '../../db/database.ts'
import { readSetting, writeSetting } from '../../db/settings.ts'
import { ApiError } from '../errors.ts'

const NAME = 'maintenance'
const FRESH_MS = 500

export type Maintenance = {
  /** Throws SERVICE_UNDER_MAINTENANCE while the switch is on. */
  refuse(): Promise<void>
  set(on: boolean): Promise<void>
  isOn(): Promise<boolean>
}

/**
 * Creates the maintenance switch. It is a row, so that it applies to every process, and it is read again after half a
 * second. While the database cannot be reached, as may happen during maintenance, the last value stands.
 */
export function createMaintenance(db: Db): Maintenance {
  let on = false
  let checkedAt = Number.NEGATIVE_INFINITY
  let checking: Promise<void> | null = null

  const check = async (): Promise<void> => {
    try {
      on = (await readSetting(db, NAME)) === true
    } catch {
      // The queries of the request will report the problem.
    }
    checkedAt = performance.now()
    checking = null
  }
  const refresh = async (): Promise<void> => {
    if (performance.now() - checkedAt < FRESH_MS) return
    checking ??= check()
    await checking
  }

  return {
    async refuse() {
      await refresh()
      if (on) throw new ApiError('SERVICE_UNDER_MAINTENANCE')
    },
    async set(next) {
      await writeSetting(db, NAME, next)
      on = next
      checkedAt = performance.now()
    },
    async isOn() {
      await check()
      return on
    },
  }
}
