import type { Context } from '../../../context.ts'
import { readParent } from '../../../conversations/records/queries.ts'
import { setStatus } from '../../../conversations/records/set-status.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { openTicket } from '../../../inbox/tickets/open-ticket.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { MailAddress } from '../../../platform/mail/mail-address.ts'
import { newConversation } from '../../inbound/process-inbound.ts'
import { lockThread } from '../../inbound/receive-message.ts'

const MAX_DESCRIPTION_LENGTH = 10_000

/**
 * Returns the conversation of the thread's last ticket if that is closed, so that the customer returns to it: nobody
 * has said anything since, in `open`, but programs.
 */
async function solvedBefore(
  trx: Trx,
  { account_id, agent_id, id }: ThreadRow,
  open: { id: string; parent_conversation_id: string | null } | null,
): Promise<{ id: string; summary: string } | null> {
  const newest = await trx
    .selectFrom('conversations')
    .innerJoin('tickets', 'tickets.conversation_id', 'conversations.id')
    .select(['conversations.id', 'tickets.status_category', 'tickets.handed_back'])
    .where('conversations.account_id', '=', account_id)
    .where('conversations.thread_id', '=', id)
    .orderBy('tickets.number', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest?.status_category !== 'closed' || newest.handed_back) return null
  if (open) {
    const answer = await trx
      .selectFrom('messages')
      .select('id')
      .where('account_id', '=', account_id)
      .where('conversation_id', '=', open.id)
      .where('role', '=', 'assistant')
      .limit(1)
      .executeTakeFirst()
    if (answer || open.parent_conversation_id !== newest.id) return null
  }
  return readParent(trx, account_id, agent_id, newest.id)
}

/**
 * Hands the thread's conversation to the team with a ticket before the mail is added, so that the agent does not
 * answer.
 */
export async function giveToTeam(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  accountId: AccountId,
  threadId: string,
  { subject, text, person }: { subject: string; text: string; person: MailAddress },
): Promise<void> {
  const thread = await lockThread(trx, accountId, threadId)
  const open = await trx
    .selectFrom('conversations')
    .select(['id', 'status', 'user_id', 'parent_conversation_id'])
    .where('account_id', '=', thread.account_id)
    .where('thread_id', '=', thread.id)
    .where('status', '<>', 'ended')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (open?.status === 'taken_over') return
  const title = subject || person.address
  const before = await solvedBefore(trx, thread, open ?? null)
  const conversation = open ?? (await newConversation(trx, thread, title.slice(0, 80).toWellFormed(), before))
  await setStatus(trx, thread.account_id, conversation.id, 'taken_over', null)
  // The mail reopens the ticket when it is added to the conversation.
  if (before) return
  await openTicket(ctx, trx, {
    accountId: thread.account_id,
    agentId: thread.agent_id,
    conversationId: conversation.id,
    subject: title,
    description: text.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed() || null,
    customer: { id: conversation.user_id, name: person.name, email: person.address, phoneNumber: null },
    assigneeId: null,
  })
}
