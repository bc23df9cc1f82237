import { recordAudit } from '../../accounts/audit/audit.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import { guardrailsOf, requireAgent } from '../records/find-agent.ts'

/** Notes of which step of the budget the owners are told, so that it happens once. */
export async function noteBudgetTold(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  step: string,
): Promise<void> {
  await trx.updateTable('agents').set({ budget_told: step }).where(ownRow(accountId, agentId)).execute()
}

/** Sets those that are given. Throws AGENT_NOT_FOUND. */
export async function setGuardrails(
  trx: Trx,
  { accountId, agentId, actor }: AgentRef & { actor: string },
  change: Partial<Guardrails>,
): Promise<void> {
  const before = guardrailsOf(await requireAgent(trx, { accountId, agentId }, 'update'))
  await trx
    .updateTable('agents')
    .set({
      guardrails: json({ ...before, ...change }),
      // The owners are told again when the budget changes.
      ...(change.budget === undefined ? {} : { budget_told: null }),
    })
    .where(ownRow(accountId, agentId))
    .execute()
  const detail = { fields: Object.keys(change) }
  await recordAudit(trx, { accountId, actor, action: 'agent.guardrails', target: agentId, detail })
}
