import type { Context } from '../context.ts'
import { DatabaseAway } from '../db/connections/unavailable.ts'
import { hasPgvector } from '../db/upkeep/pgvector.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route } from '../http/route.ts'
import { getHealth } from './contract.ts'

/** Monitors ask often, and an extension is seldom installed. */
const LOOK_AGAIN_MS = 60_000

export const healthRoutes = (ctx: Pick<Context, 'availability' | 'space' | 'db' | 'models'>): Route[] => {
  const { availability, space, db, models } = ctx
  let looked: { at: number; lacksVectors: boolean } | null = null
  const lacksVectors = async (): Promise<boolean> => {
    if (!models.embedder) return false
    if (looked === null || performance.now() - looked.at > LOOK_AGAIN_MS)
      looked = { at: performance.now(), lacksVectors: !(await hasPgvector(db)) }
    return looked.lacksVectors
  }
  return [
    route(getHealth, async () => {
      const absence = availability.absence()
      if (absence) {
        const { message } = new DatabaseAway(absence)
        throw new ApiError('SERVICE_OVERLOADED', { message })
      }
      return {
        status: 'ok' as const,
        timestamp: Math.floor(Date.now() / 1000),
        ...(space.isFull() ? { storage: 'full' as const } : {}),
        ...((await lacksVectors()) ? { search: 'words' as const } : {}),
      }
    }),
  ]
}
