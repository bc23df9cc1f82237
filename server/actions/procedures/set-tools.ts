import { requireAgent } from '../../agents/records/find-agent.ts'
import { moveTools } from '../../agents/records/knowledge-state.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AgentSnapshot } from '../../platform/db/tables/agents.ts'
import { refuseInvalid } from '../../platform/http/input/validate.ts'
import { definitionBytes, MAX_DEFINITION_BYTES } from '../definitions/definition-bytes.ts'
import { TOO_LARGE } from './change-tools.ts'

/**
 * Sets what a version says of these actions and procedures. Throws VALIDATION_INVALID_BODY when they would exceed the
 * limit of an agent.
 */
export async function setTools(
  trx: Trx,
  { accountId, agentId }: AgentRef,
  { actions, procedures }: Pick<AgentSnapshot, 'actions' | 'procedures'>,
): Promise<void> {
  if (actions.length + procedures.length === 0) return
  const agent = await requireAgent(trx, { accountId, agentId }, 'update')
  const before = await definitionBytes(trx, { accountId, agentId })
  const updated_at = new Date()
  for (const { id, enabled, description, channels } of actions)
    await trx
      .updateTable('actions')
      .set({ enabled, description, channels: json(channels), updated_at })
      .where(ownRow(accountId, id))
      .where('agent_id', '=', agentId)
      .execute()
  for (const { id, enabled, trigger, steps } of procedures)
    await trx
      .updateTable('procedures')
      .set({ enabled, trigger, steps: json(steps), updated_at })
      .where(ownRow(accountId, id))
      .where('agent_id', '=', agentId)
      .execute()
  const after = await definitionBytes(trx, { accountId, agentId })
  if (after > MAX_DEFINITION_BYTES && after > before) refuseInvalid({ body: TOO_LARGE })
  await moveTools(trx, agent)
}
