import { planOf } from '../../accounts/plans/plans.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { countAgents } from './queries.ts'

/**
 * Throws AGENT_LIMIT_REACHED when the plan is full. It locks the account, so that two requests cannot both take the
 * last place. Rows that only refer to the account, such as messages, can still be written meanwhile.
 */
export async function enforceAgentLimit(trx: Trx, account: { id: AccountId; plan: string }): Promise<void> {
  const { agents: most } = planOf(account.plan)
  if (most === null) return
  await trx.selectFrom('accounts').select('id').where('id', '=', account.id).forNoKeyUpdate().execute()
  if ((await countAgents(trx, account.id)) >= most) throw new ApiError('AGENT_LIMIT_REACHED')
}
