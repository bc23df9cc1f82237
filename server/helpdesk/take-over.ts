import { abandonRun } from '../actions/procedure-runs.ts'
import type { Context } from '../context.ts'
import { type ConversationRow, requireConversation } from '../conversations/queries.ts'
import { notOngoing } from '../conversations/status.ts'
import { endRequested, requestStop } from '../conversations/stop-generation.ts'
import { ignoreWaitingCalls } from '../conversations/tool-calls.ts'
import type { Trx } from '../db/database.ts'
import type { AccountId, ConversationStatus } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import type { Member } from './find-member.ts'
import { openTicket, openTicketOf } from './open-ticket.ts'

type Needs = Pick<Context, 'db' | 'generations' | 'notifier'>

type Place = { accountId: AccountId; agentId: string; conversationId: string }

/**
 * Gives a conversation to a team member: from its commit on the model says nothing more in it, and its ticket is
 * the member's. The same member again changes nothing; CHAT_CONVERSATION_NOT_ONGOING when it has ended or is
 * another's.
 */
export async function takeOver(ctx: Needs, place: Place, member: Member): Promise<{ ticketNumber: number }> {
  const { accountId, agentId, conversationId } = place
  const { ticketNumber, generationId } = await transact(ctx.db, async (trx) => {
    // A reply that ends at the same time waits for this row, or had it first and is whole.
    const conversation = await requireConversation(trx, accountId, agentId, conversationId, true)
    const { status, taken_over_by } = conversation
    // null: whoever had it has left the team.
    const isAnothers = status === 'taken_over' && taken_over_by !== null && taken_over_by !== member.id
    if (status === 'ended' || isAnothers) throw notOngoing(status)
    if (taken_over_by !== member.id) await setStatus(trx, accountId, conversationId, 'taken_over', member.id)
    const ticket = await openTicket(trx, {
      accountId,
      agentId,
      conversationId,
      subject: conversation.title,
      description: null,
      customer: customerOf(conversation),
      assigneeId: member.id,
    })
    await abandonRun(trx, accountId, conversationId)
    return {
      ticketNumber: ticket.ticketNumber,
      generationId: await requestStop(trx, accountId, conversationId, 'takeover'),
    }
  })
  if (generationId !== null) await endRequested(ctx, generationId, 'takeover')
  return { ticketNumber }
}

/** Gives a conversation back to the agent and closes its ticket; CONVERSATION_NOT_TAKEN_OVER when nobody has it. */
export async function handBack({ db }: Needs, { accountId, agentId, conversationId }: Place): Promise<void> {
  await transact(db, async (trx) => {
    const { status } = await requireConversation(trx, accountId, agentId, conversationId, true)
    if (status !== 'taken_over') throw new ApiError('CONVERSATION_NOT_TAKEN_OVER')
    await setStatus(trx, accountId, conversationId, 'ongoing', null)
    await closeTicket(trx, accountId, conversationId)
  })
}

/** Ends a conversation for good, with its ticket, its open actions and the reply that is being made. */
export async function endConversation(ctx: Needs, place: Place): Promise<void> {
  const { accountId, agentId, conversationId } = place
  const generationId = await transact(ctx.db, async (trx) => {
    const { status } = await requireConversation(trx, accountId, agentId, conversationId, true)
    if (status === 'ended') return null
    await setStatus(trx, accountId, conversationId, 'ended', null)
    await closeTicket(trx, accountId, conversationId)
    await ignoreWaitingCalls(trx, accountId, conversationId, { expiredOnly: false })
    await abandonRun(trx, accountId, conversationId)
    return requestStop(trx, accountId, conversationId, 'takeover')
  })
  if (generationId !== null) await endRequested(ctx, generationId, 'takeover')
}

async function setStatus(
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

async function closeTicket(trx: Trx, accountId: AccountId, conversationId: string): Promise<void> {
  const open = await openTicketOf(trx, accountId, conversationId)
  if (!open) return
  await trx
    .updateTable('tickets')
    .set({ status_category: 'closed', updated_at: new Date() })
    .where('account_id', '=', accountId)
    .where('id', '=', open.id)
    .execute()
}

const customerOf = ({ user_id }: ConversationRow) => ({
  id: user_id,
  name: null,
  email: null,
  phoneNumber: null,
})
