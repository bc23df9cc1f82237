import type { Context } from '../../context.ts'
import type { RecurringJob } from '../../platform/jobs/recurring-jobs.ts'
import { dropOldIdentities } from './identity/identify-visitor.ts'

export const widgetRecurringJobs = ({ db }: Pick<Context, 'db'>): RecurringJob[] => [
  { what: 'visitors who were signed in', everyMs: 3_600_000, run: () => dropOldIdentities(db) },
]
