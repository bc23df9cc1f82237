import type { Context } from '../../context.ts'
import { asBulk } from '../../platform/db/connections/lanes.ts'
import { type Duty, LOOK_MS } from '../../platform/jobs/duties.ts'

/** The most batches in one run, which keeps shutdown short; the next run continues. */
const BATCHES = 20

export const searchDuties = ({ db, indexer }: Pick<Context, 'db' | 'indexer'>): Duty[] => [
  {
    what: 'the search index',
    everyMs: LOOK_MS,
    soonMs: 2_000,
    processes: 'all',
    run: () => asBulk(() => indexer.run(db, BATCHES)),
  },
]
