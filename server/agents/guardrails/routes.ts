import { budgetState, monthOf, spentInMonth } from '../../accounts/plans/credits.ts'
import type { Context } from '../../context.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { type Route, route } from '../../platform/http/route.ts'
import { guardrailsOf } from '../records/find-agent.ts'
import * as contract from './contract.ts'
import { setGuardrails } from './guardrails.ts'

export const guardrailRoutes = (ctx: Pick<Context, 'db'>): Route[] => [
  route(contract.readGuardrails, async ({ agent }) => guardrailsOf(agent)),

  route(contract.setGuardrails, { findsAgent: true }, async ({ db, ref, caller: { actor }, body }) => {
    await transact(db, (trx) => setGuardrails(trx, { ...ref, actor }, body))
    return { success: true as const }
  }),

  route(contract.readSpending, async ({ agent, ref }) => {
    const now = new Date()
    const { budget } = guardrailsOf(agent)
    const spent = await spentInMonth(ctx.db, ref, now)
    return { month: monthOf(now), ...spent, budget, state: budgetState(budget, spent.dollars) }
  }),
]
