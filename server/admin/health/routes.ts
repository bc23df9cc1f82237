import type { Context } from '../../context.ts'
import { isIsolated } from '../../platform/child-process/launch.ts'
import { DatabaseUnavailable } from '../../platform/db/connections/database-errors.ts'
import type { Db } from '../../platform/db/database.ts'
import { hasPgvector } from '../../platform/db/upkeep/pgvector.ts'
import { indexTables } from '../../platform/db/upkeep/vacuum.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { getHealth } from './contract.ts'

/** Monitors ask often, and what is looked at changes slowly. */
const LOOK_AGAIN_MS = 60_000

export const healthRoutes = (ctx: Pick<Context, 'availability' | 'space' | 'db' | 'models'>): Route[] => {
  const { availability, space, db, models } = ctx
  let known: IndexHealth = {}
  let lookedAt = Number.NEGATIVE_INFINITY
  // No request waits for the database: a monitor that asks while it stands still must get its answer at once.
  const indexHealth = (): IndexHealth => {
    if (performance.now() - lookedAt < LOOK_AGAIN_MS) return known
    lookedAt = performance.now()
    lookAtIndex(db, models.embedder !== null).then(
      (seen) => {
        known = seen
      },
      // The availability of the database reports its failures.
      () => {},
    )
    return known
  }
  const details = () => ({
    ...(models.embedder === null ? { embedding: 'none' as const } : {}),
    ...(isIsolated() ? {} : { documents: 'not_isolated' as const }),
    ...indexHealth(),
  })
  return [
    route(getHealth, async ({ query }) => {
      const outage = availability.outage()
      if (outage) {
        const { message } = new DatabaseUnavailable(outage)
        throw new ApiError('SERVICE_OVERLOADED', { message })
      }
      return {
        status: 'ok' as const,
        timestamp: Math.floor(Date.now() / 1000),
        ...(space.isFull() ? { storage: 'full' as const } : {}),
        ...(query.details ? details() : {}),
      }
    }),
  ]
}

type IndexHealth = { search?: 'words'; indexBytesPerRow?: number }

/** Returns what monitors are told of the index. */
async function lookAtIndex(db: Db, hasEmbedder: boolean): Promise<IndexHealth> {
  const tables = await indexTables(db)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  const count = tables.reduce((sum, table) => sum + table.rows, 0)
  return {
    ...(hasEmbedder && !(await hasPgvector(db)) ? { search: 'words' as const } : {}),
    ...(count > 0 ? { indexBytesPerRow: Math.round(bytes / count) } : {}),
  }
}
