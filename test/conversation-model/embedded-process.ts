import { readConfig } from '../../server/config.ts'
import { createContext } from '../../server/context.ts'
import { run } from '../../server/run.ts'
import { type Inside, insideOf } from './inside.ts'

export type Asked = { id: number; method: keyof Inside; values: unknown[] }
export type Told = { id: number; result?: unknown; error?: string }

// The service as server/main.ts starts it. Its database has one process: the test asks that one to look inside.
const ctx = await createContext(readConfig(process.env))
const inside = insideOf(ctx.db)
process.on('disconnect', () => process.exit(1))
process.on('message', async ({ id, method, values }: Asked) => {
  const told: Told = { id }
  try {
    told.result = await (inside[method] as (...values: unknown[]) => Promise<unknown>)(...values)
  } catch (error) {
    told.error = String(error)
  }
  process.send?.(told)
})
await run(ctx, 'all')
