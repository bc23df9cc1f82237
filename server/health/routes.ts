import { type Route, route } from '../http/route.ts'
import { getHealth } from './contract.ts'

export const healthRoutes = (): Route[] => [
  route(getHealth, async () => ({ status: 'ok' as const, timestamp: Math.floor(Date.now() / 1000) })),
]
