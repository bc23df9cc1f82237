import type { Context } from '../../../context.ts'
import { setStatus } from '../../../conversations/records/set-status.ts'
import { openTicket } from '../../../inbox/tickets/open-ticket.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { MailAddress } from '../../../platform/mail/mail-address.ts'
import { newConversation } from '../../inbound/process-inbound.ts'
import { lockThread } from '../../inbound/receive-message.ts'

const MAX_DESCRIPTION_LENGTH = 10_000

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
    .select(['id', 'status', 'user_id'])
    .where('account_id', '=', thread.account_id)
    .where('thread_id', '=', thread.id)
    .where('status', '<>', 'ended')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (open?.status === 'taken_over') return
  const title = subject || person.address
  const conversation = open ?? (await newConversation(trx, thread, title.slice(0, 80).toWellFormed(), null))
  await setStatus(trx, thread.account_id, conversation.id, 'taken_over', null)
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
