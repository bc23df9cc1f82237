import { abandonIdleRuns } from './actions/procedure-runs.ts'
import type { Context } from './context.ts'
import { closeOrphans } from './conversations/close-orphans.ts'
import { expireCalls } from './conversations/expire-calls.ts'
import { purgeFrames } from './conversations/frame-publisher.ts'
import type { Db } from './db/database.ts'
import { purgeKeys } from './http/idempotency.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

type Duty = { what: string; everyMs: number; run(db: Db): Promise<unknown> }

/** What every process does from time to time; each is safe to be done by several at once. */
const DUTIES: Duty[] = [
  { what: 'orphaned generations', everyMs: 5 * SECOND, run: (db) => closeOrphans(db, { all: false }) },
  { what: 'expired actions', everyMs: MINUTE, run: expireCalls },
  { what: 'idle procedures', everyMs: 10 * MINUTE, run: abandonIdleRuns },
  { what: 'old stream frames', everyMs: 10 * MINUTE, run: purgeFrames },
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: purgeKeys },
]

/** Does each duty once and then again and again; answers how to stop. */
export async function keepHouse({ db, embedded, log }: Context): Promise<() => void> {
  // With the embedded database nobody else can be running what the last process left.
  await closeOrphans(db, { all: embedded })
  const timers = DUTIES.flatMap(({ what, everyMs, run }) => {
    const once = (): void => {
      run(db).catch((error: unknown) => log.error({ err: error }, what))
    }
    return [setTimeout(once, SECOND), setInterval(once, everyMs)]
  })
  return () => {
    for (const timer of timers) clearInterval(timer)
  }
}
