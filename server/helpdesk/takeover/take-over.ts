import { abandonRun } from '../../actions/procedures/procedure-runs.ts'
import type { Context } from '../../context.ts'
import { type ConversationRow, notOngoing, requireConversation } from '../../conversations/records/queries.ts'
import { setStatus } from '../../conversations/records/set-status.ts'
import { endRequested, requestStop } from '../../conversations/turn/stop-generation.ts'
import type { Trx } from '../../db/database.ts'
import type { ConversationRef } from '../../db/refs.ts'
import { afterCommit, transact } from '../../db/statements/transact.ts'
import { ApiError } from '../../http/errors.ts'
import { sendSurvey } from '../survey/send-survey.ts'
import type { Member } from '../team/find-member.ts'
import { applyTicketChange, defaultStatus } from '../tickets/apply-ticket-change.ts'
import { endInside } from '../tickets/end-conversation.ts'
import { ensureTicket } from '../tickets/open-ticket.ts'
import { tellDesk } from '../tickets/tell-desk.ts'
import { openTicketOf } from '../tickets/ticket-queries.ts'

type Needs = Pick<Context, 'db' | 'generations' | 'notifier' | 'config'>

/**
 * Gives a conversation to a team member. After the commit, nothing of the model's answer is stored in it, and the
 * ticket is assigned to the member. Readers may see more of the answer until its process has been notified.
 * Repeating it for the same member changes nothing. Throws CHAT_CONVERSATION_NOT_ONGOING when the conversation has
 * ended or another member has it.
 */
export async function takeOver(
  ctx: Needs,
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
    await tell(ctx, trx, ref, ticket.number)
    return { ticketNumber: ticket.number, generationId }
  })
  if (generationId !== null) await endAfterCommit(ctx, generationId)
  return { ticketNumber }
}

/**
 * Gives a conversation back to the agent and closes its ticket. Throws CONVERSATION_NOT_TAKEN_OVER when nobody has
 * it.
 */
export async function handBack(ctx: Needs, ref: ConversationRef): Promise<void> {
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
      await applyTicketChange(trx, open, closed, taken_over_by ?? 'api')
    }
    await tell(ctx, trx, ref, open?.number)
  })
}

/** Ends a conversation, its ticket, its open actions and the running reply. */
export async function endConversation(ctx: Needs, ref: ConversationRef): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  const generationId = await transact(ctx.db, async (trx) => {
    const conversation = await requireConversation(trx, { accountId, agentId, conversationId }, true)
    if (conversation.status === 'ended') return null
    const running = await endInside(trx, accountId, conversationId)
    const open = await openTicketOf(trx, accountId, conversationId)
    if (open) {
      const closed = { status: await defaultStatus(trx, { accountId, agentId }, 'closed') }
      await applyTicketChange(trx, open, closed, conversation.taken_over_by ?? 'api')
      await sendSurvey(ctx.config, trx, open, conversation)
    }
    await tell(ctx, trx, ref, open?.number)
    return running
  })
  if (generationId !== null) await endAfterCommit(ctx, generationId)
}

const endAfterCommit = (ctx: Needs, generationId: string): Promise<void> =>
  afterCommit(ctx.db, (db) => endRequested({ ...ctx, db }, generationId, 'takeover'))

async function tell(
  ctx: Needs,
  trx: Trx,
  ref: ConversationRef,
  ticketNumber: number | undefined,
): Promise<void> {
  const { accountId, agentId, conversationId } = ref
  if (ticketNumber !== undefined) {
    await tellDesk(ctx, trx, { accountId, agentId }, { type: 'ticket', data: { ticketNumber } })
  }
  await tellDesk(ctx, trx, { accountId, agentId }, { type: 'conversation', data: { conversationId } })
}

const customerOf = ({ user_id }: ConversationRow) => ({
  id: user_id,
  name: null,
  email: null,
  phoneNumber: null,
})
