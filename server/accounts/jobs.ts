import type { Context } from '../context.ts'
import { purgeKeys } from '../http/once/idempotency.ts'
import type { Duty } from '../jobs/duties.ts'

const MINUTE = 60_000

export const accountDuties = ({ db }: Pick<Context, 'db'>): Duty[] => [
  { what: 'old idempotency keys', everyMs: 60 * MINUTE, run: () => purgeKeys(db) },
]
