import { abandonRun } from '../../actions/procedures/procedure-runs.ts'
import type { Context } from '../../context.ts'
import { type ConversationRow, notOngoing, requireConversation } from '../../conversations/records/queries.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import { requestStop, stopAfterCommit } from '../../conversations/turn/generations.ts'
import type { ConversationRef } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Member } from '../team/find-member.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { ensureTicket } from '../tickets/open-ticket.ts'
import { publishConversationEvent } from '../tickets/publish-desk-event.ts'
import { openTicketOf } from '../tickets/ticket-queries.ts'

type Deps = Pick<Context, 'db' | 'generations' | 'notifier'>

/**
 * Gives a conversation to a team member. After the commit, nothing of the model's answer is stored in it, and the
 * ticket is assigned to the member. Readers may see more of the answer until its process has been notified.
 * Repeating it for the same member changes nothing. Throws CHAT_CONVERSATION_NOT_ONGOING when the conversation has
 * ended or another member has it.
 */
export async function takeOver(
  ctx: Deps,
  ref: ConversationRef,
  member: Member,
): Promise<{ ticketNumber: number }> {
  const { accountId, agentId, conversationId } = ref
  const { ticketNumber, generationId } = await transact(ctx.db, async (trx) => {
    // A reply that ends at the same time either waits for this row or was stored completely before.
    const conversation = await requireConversation(trx, { accountId, agentId, conversationId }, true)
    const { status, taken_over_by } = conversation
    // `taken_over_by` is null if the member has left the team.
    const isAnothers = status === 'taken_over' && taken_over_by !== null && taken_over_by !== member.id
    if (status === 'ended' || isAnothers) throw notOngoing(status)
    if (taken_over_by !== member.id) await setStatus(trx, accountId, conversationId, 'taken_over', member.id)
    const { ticket } = await ensureTicket(trx, {
      accountId,
      agentId,
      conversationId,
      subject: conversation.title,
      description: null,
      customer: customerOf(conversation),
      assigneeId: member.id,
    })
    await abandonRun(trx, accountId, conversationId)
    const generationId = await requestStop(trx, accountId, conversationId, 'takeover')
    await publishConversationEvent(ctx, trx, ref, ticket.number)
    return { ticketNumber: ticket.number, generationId }
  })
  await stopAfterCommit(ctx, generationId)
  return { ticketNumber }
}

/**
 * Gives a conversation back to the agent and closes its ticket. Throws CONVERSATION_NOT_TAKEN_OVER when nobody has
 * it. Without `memberId`, the person who had it has done it.
 */
export async function handBack(ctx: Deps, ref: ConversationRef, memberId: string | null): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  await transact(ctx.db, async (trx) => {
    const { status, taken_over_by } = await requireConversation(
      trx,
      { accountId, agentId, conversationId },
      true,
    )
    if (status !== 'taken_over') throw new ApiError('CONVERSATION_NOT_TAKEN_OVER')
    await setStatus(trx, accountId, conversationId, 'ongoing', null)
    const open = await openTicketOf(trx, accountId, conversationId)
    if (open) {
      const closed = { status: await defaultStatus(trx, { accountId, agentId }, 'closed'), handedBack: true }
      await applyTicketChange(trx, open, closed, memberId ?? taken_over_by ?? 'api')
    }
    await publishConversationEvent(ctx, trx, ref, open?.number)
  })
}

const customerOf = ({ user_id }: ConversationRow) => ({
  id: user_id,
  name: null,
  email: null,
  phoneNumber: null,
})
