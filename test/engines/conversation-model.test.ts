import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import type { Plan } from '../conversation-model/commands.ts'
import { knownPlans } from '../conversation-model/known-plans.ts'
import { plans } from '../conversation-model/plans.ts'
import { runPlan } from '../conversation-model/run-plan.ts'
import { openWorld } from '../conversation-model/world.ts'
import { onPostgres } from '../database.ts'

/** PARLEY_SEED repeats a run. PARLEY_RUNS sets the number of plans. */
const seed = Number(process.env.PARLEY_SEED ?? 20_260_707)
const numRuns = Number(process.env.PARLEY_RUNS ?? 40)
/** Plans that a slow machine does not reach within this time are skipped, unless PARLEY_RUNS asks for them. */
const TIME_MS = process.env.PARLEY_RUNS ? Number.POSITIVE_INFINITY : 25_000
/**
 * The time for shrinking a failed plan. Each smaller plan is run `TRIES` times, because it may fail only with some
 * timings.
 */
const SHRINK_MS = 180_000
const TRIES = 3

async function check(t: TestContext, { embedded }: { embedded: boolean }): Promise<void> {
  const until = Date.now() + TIME_MS
  const world = await openWorld({ embedded })
  let shrinkUntil: number | null = null
  const holds = async (plan: Plan): Promise<void> => {
    if (Date.now() > (shrinkUntil ?? until)) return
    for (let i = 0; i < (shrinkUntil === null ? 1 : TRIES); i++) {
      try {
        await runPlan(world, plan)
      } catch (error) {
        if (shrinkUntil === null) t.diagnostic(`The first failure, before it is made smaller: ${error}`)
        shrinkUntil ??= Date.now() + SHRINK_MS
        throw error
      }
    }
  }
  try {
    await fc.assert(fc.asyncProperty(plans, holds), {
      seed,
      numRuns,
      examples: knownPlans.map((plan): [Plan] => [plan]),
    })
  } finally {
    await world.close()
  }
}

test(
  'any interleaving of requests, faults and kills in two processes leaves a consistent conversation',
  { skip: !onPostgres() && 'Two processes need PostgreSQL: set TEST_DATABASE_URL.' },
  (t) => check(t, { embedded: false }),
)

test(
  'any interleaving of requests, faults and kills on the embedded database leaves a consistent conversation',
  { skip: onPostgres() && 'It runs when TEST_DATABASE_URL is not set.' },
  (t) => check(t, { embedded: true }),
)
