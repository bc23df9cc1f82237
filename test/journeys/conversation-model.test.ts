import { test } from 'node:test'
import fc from 'fast-check'
import type { Plan } from '../conversation-model/commands.ts'
import { plans } from '../conversation-model/plans.ts'
import { runPlan } from '../conversation-model/run-plan.ts'
import { openWorld } from '../conversation-model/world.ts'
import { onPostgres } from '../database.ts'

/** PARLEY_SEED repeats a run; PARLEY_RUNS makes it longer. */
const seed = Number(process.env.PARLEY_SEED ?? 20_260_707)
const numRuns = Number(process.env.PARLEY_RUNS ?? 40)

/** A failure by chance of timing is tried so often again while a smaller plan is looked for. */
const TRIES = 3

async function check({ embedded }: { embedded: boolean }): Promise<void> {
  const world = await openWorld({ embedded })
  let tries = 1
  const holds = async (plan: Plan): Promise<void> => {
    for (let i = 0; i < tries; i++) {
      await runPlan(world, plan).catch((error: unknown) => {
        tries = TRIES
        throw error
      })
    }
  }
  try {
    await fc.assert(fc.asyncProperty(plans, holds), { seed, numRuns })
  } finally {
    await world.close()
  }
}

test(
  'any interleaving of requests, faults and kills in two processes leaves a conversation that is right',
  { skip: !onPostgres() && 'Two processes need PostgreSQL: set TEST_DATABASE_URL.' },
  () => check({ embedded: false }),
)

test(
  'any interleaving of requests, faults and kills on the embedded database leaves a conversation that is right',
  { skip: onPostgres() && 'It runs when TEST_DATABASE_URL is not set.' },
  () => check({ embedded: true }),
)
