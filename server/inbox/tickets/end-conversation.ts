import { abandonRun } from '../../actions/procedures/procedure-runs.ts'
import type { Context } from '../../context.ts'
import { ignoreWaitingCalls } from '../../conversations/records/parts.ts'
import { requireConversation } from '../../conversations/records/queries.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import { requestStop, stopAfterCommit } from '../../conversations/turn/generations.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { ConversationRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { sendSurvey } from '../survey/send-survey.ts'
import { applyTicketChange, defaultStatus } from './apply-ticket-change.ts'
import { publishConversationEvent } from './publish-desk-event.ts'
import { openTicketOf } from './ticket-queries.ts'

type Deps = Pick<Context, 'db' | 'generations' | 'notifier' | 'config'>

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

/**
 * Ends a conversation, its ticket, its open actions and the running reply. Without `memberId`, the person who had the
 * conversation has done it.
 */
export async function endConversation(
  ctx: Deps,
  ref: ConversationRef,
  memberId: string | null,
): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  const generationId = await transact(ctx.db, async (trx) => {
    const conversation = await requireConversation(trx, { accountId, agentId, conversationId }, true)
    if (conversation.status === 'ended') return null
    const running = await endInside(trx, accountId, conversationId)
    const open = await openTicketOf(trx, accountId, conversationId)
    if (open) {
      const closed = { status: await defaultStatus(trx, { accountId, agentId }, 'closed') }
      await applyTicketChange(trx, open, closed, memberId ?? conversation.taken_over_by ?? 'api')
      await sendSurvey(ctx.config, trx, open, conversation)
    }
    await publishConversationEvent(ctx, trx, ref, open?.number)
    return running
  })
  await stopAfterCommit(ctx, generationId)
}
