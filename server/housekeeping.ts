import { abandonIdleRuns } from './actions/procedure-runs.ts'
import type { Context } from './context.ts'
import { closeOrphans } from './conversations/close-orphans.ts'
import { expireCalls } from './conversations/expire-calls.ts'
import { purgeFrames } from './conversations/frame-publisher.ts'
import type { Db } from './db/database.ts'
import { purgeKeys } from './http/idempotency.ts'
import { claimDueSyncs } from './knowledge/sync/claim-syncs.ts'
import { planSyncs } from './knowledge/sync/plan-syncs.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
// Keeps the wait at the end of the process short; the next second goes on.
const INDEX_BATCHES = 20

type Duty = { what: string; everyMs: number; run(db: Db, ctx: Context): Promise<unknown> }

/** What every process does from time to time; each is safe to be done by several at once. */
const DUTIES: Duty[] = [
  { what: 'the search index', everyMs: SECOND, run: (db, ctx) => ctx.indexer.run(db, INDEX_BATCHES) },
  { what: 'orphaned generations', everyMs: 5 * SECOND, run: (db) => closeOrphans(db, { all: false }) },
  { what: 'due re-syncs', everyMs: MINUTE, run: (_db, ctx) => claimDueSyncs(ctx) },
  { what: 'planning of re-syncs', everyMs: 10 * MINUTE, run: (db) => planSyncs(db) },
  { what: 'expired actions', everyMs: MINUTE, run: expireCalls },
  { what: 'idle procedures', everyMs: 10 * MINUTE, run: abandonIdleRuns },
  { what: 'old stream frames', everyMs: 10 * MINUTE, run: purgeFrames },
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: purgeKeys },
]

/** Does each duty once and then again and again, never twice at a time; answers how to stop. */
export async function keepHouse(ctx: Context): Promise<() => Promise<void>> {
  const { db, embedded, log } = ctx
  const report = (what: string) => (error: unknown) => log.error({ err: error }, what)
  // With the embedded database nobody else can be running what the last process left.
  await closeOrphans(db, { all: embedded }).catch(report('orphaned generations'))
  const running = new Map<string, Promise<unknown>>()
  const timers = DUTIES.flatMap(({ what, everyMs, run }) => {
    const once = (): void => {
      if (running.has(what)) return
      const done = run(db, ctx)
        .catch(report(what))
        .finally(() => running.delete(what))
      running.set(what, done)
    }
    return [setTimeout(once, SECOND), setInterval(once, everyMs)]
  })
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await Promise.all(running.values())
  }
}
