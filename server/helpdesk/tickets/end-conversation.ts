import { abandonRun } from '../../actions/procedures/procedure-runs.ts'
import { ignoreWaitingCalls } from '../../conversations/records/parts.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import { requestStop } from '../../conversations/turn/stop-generation.ts'
import type { Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'

/** Ends a conversation whose row is locked. Returns the running reply, if any, which must be ended after the commit. */
export async function endInside(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
): Promise<string | null> {
  await setStatus(trx, accountId, conversationId, 'ended', null)
  await ignoreWaitingCalls(trx, accountId, conversationId, { expiredOnly: false })
  await abandonRun(trx, accountId, conversationId)
  return requestStop(trx, accountId, conversationId, 'takeover')
}
