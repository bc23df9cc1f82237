import type { Context } from '../context.ts'
import type { Duty } from '../platform/jobs/duties.ts'
import { abandonIdleRuns } from './procedures/procedure-runs.ts'

export const actionDuties = ({ db }: Pick<Context, 'db'>): Duty[] => [
  { what: 'idle procedures', everyMs: 600_000, run: () => abandonIdleRuns(db) },
]
