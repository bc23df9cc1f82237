import type { Context } from '../context.ts'
import { purgeKeys } from '../platform/http/idempotency/idempotency.ts'
import type { Duty } from '../platform/jobs/duties.ts'

const MINUTE = 60_000

export const accountDuties = ({ db }: Pick<Context, 'db'>): Duty[] => [
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: () => purgeKeys(db) },
]
