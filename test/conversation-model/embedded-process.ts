import { readConfig } from '../../server/config.ts'
import { createContext } from '../../server/context.ts'
import { run } from '../../server/run.ts'
import { type Inside, insideOf } from './inside.ts'

export type Asked = { id: number; method: keyof Inside; values: unknown[] }
export type Told = { id: number; result?: unknown; error?: string }

// Runs the service as server/main.ts does. An embedded database can be used by one process only, so the test has this
// process perform its inside operations.
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
