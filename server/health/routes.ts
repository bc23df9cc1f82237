import type { Context } from '../context.ts'
import { DatabaseAway } from '../db/connections/unavailable.ts'
import { ApiError } from '../http/errors.ts'
import { type Route, route } from '../http/route.ts'
import { getHealth } from './contract.ts'

export const healthRoutes = ({ availability, space }: Pick<Context, 'availability' | 'space'>): Route[] => [
  route(getHealth, async () => {
    const absence = availability.absence()
    if (absence) {
      const { message } = new DatabaseAway(absence)
      throw new ApiError('SERVICE_OVERLOADED', { message })
    }
    const storage = space.isFull() ? { storage: 'full' as const } : {}
    return { status: 'ok' as const, timestamp: Math.floor(Date.now() / 1000), ...storage }
  }),
]
