import { planOf } from '../accounts/plans.ts'
import type { Trx } from '../db/database.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'

/** Bytes of training text. */
export const sizeOf = (...texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

/**
 * Throws SOURCE_SIZE_LIMIT_EXCEEDED when `bytes` of training text, in the place of the source `instead`, would
 * pass the plan. Locks the agent, so that two sources cannot take the last room.
 */
export async function takeRoom(
  trx: Trx,
  account: { id: AccountId; plan: string },
  agentId: string,
  bytes: number,
  instead: string | null = null,
): Promise<void> {
  const { trainingBytes } = planOf(account.plan)
  if (trainingBytes === null) return
  await trx.selectFrom('agents').select('id').where('id', '=', agentId).forUpdate().execute()
  const others = await trx
    .selectFrom('sources')
    .select('size')
    .where('account_id', '=', account.id)
    .where('agent_id', '=', agentId)
    .$if(instead !== null, (query) => query.where('id', '<>', instead ?? ''))
    .execute()
  const used = others.reduce((sum, { size }) => sum + size, 0)
  if (used + bytes > trainingBytes) throw new ApiError('SOURCE_SIZE_LIMIT_EXCEEDED')
}
