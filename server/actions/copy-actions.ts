import type { AgentHooks } from '../agents/hooks.ts'
import { newId } from '../db/ids.ts'
import { json } from '../db/json.ts'

/** Copies an agent's actions, their encrypted headers as they are, and its procedures, for its clone. */
export const copyActions: AgentHooks['copyActions'] = async (trx, accountId, fromAgentId, toAgentId) => {
  const actions = await trx
    .selectFrom('actions')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', fromAgentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  if (actions.length > 0) {
    const copies = actions.map((row) => ({
      ...row,
      id: newId(),
      agent_id: toAgentId,
      channels: json(row.channels),
      inputs: json(row.inputs),
      http: json(row.http),
    }))
    await trx.insertInto('actions').values(copies).execute()
  }
  const procedures = await trx
    .selectFrom('procedures')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('agent_id', '=', fromAgentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  if (procedures.length > 0) {
    const copies = procedures.map((row) => ({
      ...row,
      id: newId(),
      agent_id: toAgentId,
      steps: json(row.steps),
    }))
    await trx.insertInto('procedures').values(copies).execute()
  }
}
