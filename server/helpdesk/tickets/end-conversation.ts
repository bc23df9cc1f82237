import { abandonRun } from '../../actions/procedures/procedure-runs.ts'
import { ignoreWaitingCalls } from '../../conversations/records/tool-calls.ts'
import { requestStop } from '../../conversations/turn/stop-generation.ts'
import type { Trx } from '../../db/database.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { ConversationStatus } from '../../db/tables/conversations.ts'

/** Ends a conversation whose row is locked; answers the reply that has to be ended after the commit, if one is made. */
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

export async function setStatus(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  status: ConversationStatus,
  memberId: string | null,
): Promise<void> {
  await trx
    .updateTable('conversations')
    .set({ status, taken_over_by: memberId, updated_at: new Date() })
    .where('account_id', '=', accountId)
    .where('id', '=', conversationId)
    .execute()
}
