import type { Context } from '../../context.ts'
import type { Duty } from '../../platform/jobs/duties.ts'
import { dropOldIdentities } from './identity/identify-visitor.ts'

export const widgetDuties = ({ db }: Pick<Context, 'db'>): Duty[] => [
  { what: 'visitors who were signed in', everyMs: 3_600_000, run: () => dropOldIdentities(db) },
]
