import { isBudgetUsedUp } from '../../accounts/plans/budget.ts'
import type { Trx } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { StartRequest } from './turn.ts'

/** The message of a refusal that otherwise is that of used up credits. */
export const BUDGET_USED_UP = 'The budget of this agent is used up for this month.'

/** Throws CHAT_AGENT_CREDITS_EXHAUSTED when a model may not be called any more. Trials of the owner may go on. */
export async function requireBudget(trx: Trx, { account, agent, model, trial }: StartRequest): Promise<void> {
  if (!model.costsMoney || trial) return
  if (await isBudgetUsedUp(trx, { accountId: account.id, agentId: agent.id }, agent.guardrails.budget))
    throw new ApiError('CHAT_AGENT_CREDITS_EXHAUSTED', { message: BUDGET_USED_UP })
}
