import type { UpdateObject } from 'kysely'
import type { Context } from '../../../context.ts'
import { notOngoing } from '../../../conversations/records/queries.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { isId } from '../../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import type { InboundContent } from '../../../platform/db/tables/channels.ts'
import type { Tables } from '../../../platform/db/tables/tables.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { ANSWER, type Answer } from '../../inbound/process-inbound.ts'
import { lockThread, PROCESS_INBOUND, type ProcessInbound } from '../../inbound/receive-message.ts'
import { mailThreadOf, subjectAsked } from '../outbound/mail-threads.ts'
import { giveToTeam } from '../outbound/mail-ticket.ts'

type MailRef = AgentRef & { mailId: string }

/**
 * Lets the agent answer a mail that was stored without an answer. If its conversation has ended, or a later message of it
 * has been answered, the mail is appended as a new message. Throws CHAT_CONVERSATION_NOT_ONGOING when a person has the conversation.
 */
export async function letAnswer({ jobs }: Pick<Context, 'jobs'>, trx: Trx, ref: MailRef): Promise<void> {
  const { thread, content, messageId } = await hold(trx, ref)
  const { accountId } = ref
  const conversation = await trx
    .selectFrom('conversations')
    .select(['id', 'status', 'answered_seq'])
    .where('account_id', '=', accountId)
    .where('thread_id', '=', thread.id)
    .where('status', '<>', 'ended')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (conversation && conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const { silent: _, silentBecause: __, ...rest } = content
  await changeMail(trx, ref, { content: json(rest) })
  const message = await trx
    .selectFrom('messages')
    .select(['seq', 'conversation_id'])
    .where('account_id', '=', accountId)
    .where('id', '=', messageId)
    .executeTakeFirst()
  if (conversation && message?.conversation_id === conversation.id && message.seq > conversation.answered_seq)
    return jobs.enqueue<Answer>(trx, ANSWER, { conversationId: conversation.id })
  await changeMail(trx, ref, { taken_in_at: null, message_id: null })
  await jobs.enqueue<ProcessInbound>(trx, PROCESS_INBOUND, { threadId: thread.id })
}

/** Opens a ticket for a mail that was stored silently. */
export async function giveSilentToTeam(
  ctx: Pick<Context, 'notifier'>,
  trx: Trx,
  ref: MailRef,
): Promise<void> {
  const { thread, content } = await hold(trx, ref)
  const mail = mailThreadOf(thread)
  if (!mail) throw notFound()
  await giveToTeam(ctx, trx, ref.accountId, thread.id, {
    subject: subjectAsked(mail),
    text: content.text,
    person: mail.to,
  })
  const { silentBecause: _, ...rest } = content
  await changeMail(trx, ref, { content: json(rest) })
}

async function changeMail(
  trx: Trx,
  { accountId, mailId }: MailRef,
  changes: UpdateObject<Tables, 'inbound_messages'>,
): Promise<void> {
  await trx.updateTable('inbound_messages').set(changes).where(ownRow(accountId, mailId)).execute()
}

const notFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', { message: 'No such mail is stored without an answer.' })

/** Locks the thread of the mail, and then the mail. Throws RESOURCE_NOT_FOUND. */
async function hold(
  trx: Trx,
  { accountId, agentId, mailId }: MailRef,
): Promise<{ thread: ThreadRow; content: InboundContent; messageId: string | null }> {
  const found = isId(mailId)
    ? await trx
        .selectFrom('inbound_messages')
        .select('thread_id')
        .where(ofAgent({ accountId, agentId }))
        .where('id', '=', mailId)
        .executeTakeFirst()
    : undefined
  if (!found) throw notFound()
  const thread = await lockThread(trx, accountId, found.thread_id)
  const mail = await trx
    .selectFrom('inbound_messages')
    .select(['content', 'message_id'])
    .where(ownRow(accountId, mailId))
    .forUpdate()
    .executeTakeFirst()
  if (mail?.content.silentBecause === undefined) throw notFound()
  return { thread, content: mail.content, messageId: mail.message_id }
}
