import type { Selectable } from 'kysely'
import { REMOVE_FILES, type RemoveFiles } from '../../../agents/jobs.ts'
import type { Context } from '../../../context.ts'
import { deleteAttachments } from '../../../conversations/attachments/attachments.ts'
import { storeDeletion, storeEdit } from '../../../conversations/records/change-message.ts'
import { requestStop, stopAfterCommit } from '../../../conversations/turn/generations.ts'
import type { ThreadRow } from '../../../inbox/deliveries/enqueue-delivery.ts'
import { changeTicketCopy } from '../../../inbox/messages/change-ticket-message.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { InboundContent, InboundMessagesTable } from '../../../platform/db/tables/channels.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { ANSWER, type Answer, saidIn } from '../../inbound/process-inbound.ts'
import type { MessagingAccount } from '../connection/connection.ts'
import type { WebhookEvent } from '../connection/provider-adapter.ts'
import { readWord } from './opt-out-words.ts'
import { recipientOf, threadOfSender } from './person-thread.ts'
import { applyWord, placeOf, storeMessage } from './take-message.ts'

type Deps = Pick<Context, 'db' | 'jobs' | 'notifier' | 'generations'>
type EventOf<K extends WebhookEvent['kind']> = Extract<WebhookEvent, { kind: K }>
type Inbound = Selectable<InboundMessagesTable>

/**
 * Stores the newest words of a message. If it was not answered yet, they are what is answered. An edit may arrive before
 * its message; then it is the message. A deleted message stays deleted.
 */
export async function takeEdit(ctx: Deps, account: MessagingAccount, event: EventOf<'edit'>): Promise<void> {
  const { from, messageId, originalId, sentAt, content, words } = event
  const editedAt = sentAt.toISOString()
  const stopped = await transact(ctx.db, async (trx) => {
    const thread = await threadOfSender(trx, placeOf(account, event), from, messageId)
    const inbound = await inboundOf(trx, thread, originalId)
    if (!inbound) {
      const recipient = recipientOf(from)
      const stored = {
        providerMessageId: originalId,
        recipient,
        sentAt,
        words,
        content: { ...content, editedAt },
      }
      await storeMessage(ctx, trx, thread, stored)
      return null
    }
    const before = inbound.content
    if (before.deletedAt !== undefined || (before.editedAt ?? '') > editedAt) return null
    const { text, about = before.about, unreadable } = content
    const said = words === null ? null : readWord(words)
    await applyWord(trx, thread, { said, sentAt, recipient: recipientOf(from) })
    const changed: InboundContent = {
      ...before,
      text,
      editedAt,
      ...(about ? { about } : {}),
      ...(unreadable === undefined ? {} : { unreadable }),
      ...(said?.word === 'out' || content.silent ? { silent: true } : {}),
    }
    await storeContent(trx, inbound, changed)
    if (inbound.message_id === null) return null
    const shown = saidIn(changed)
    await storeEdit(trx, inbound.account_id, inbound.message_id, { text: shown, editedAt })
    await changeTicketCopy(trx, inbound.account_id, inbound.message_id, { text: shown, mark: { editedAt } })
    return answerAgain(ctx, trx, inbound)
  })
  await stopAfterCommit(ctx, stopped)
}

/** Removes what a person has deleted from everywhere. A message that is still being answered is not answered. */
export async function takeDeletion(
  ctx: Deps,
  account: MessagingAccount,
  event: EventOf<'deletion'>,
): Promise<void> {
  const { from, messageId, originalId, sentAt } = event
  const deletedAt = sentAt.toISOString()
  const gone: InboundContent = { text: '', attachments: [], silent: true, deletedAt }
  const stopped = await transact(ctx.db, async (trx) => {
    const thread = await threadOfSender(trx, placeOf(account, event), from, messageId)
    const inbound = await inboundOf(trx, thread, originalId)
    if (!inbound) {
      const stored = {
        providerMessageId: originalId,
        recipient: recipientOf(from),
        sentAt,
        words: null,
        content: gone,
      }
      await storeMessage(ctx, trx, thread, stored)
      await setTaken(trx, thread, originalId)
      return null
    }
    if (inbound.content.deletedAt !== undefined) return null
    await storeContent(trx, inbound, gone)
    await dropFiles(ctx, trx, inbound)
    if (inbound.message_id === null) {
      await setTaken(trx, thread, originalId)
      return null
    }
    const message = await messageOf(trx, inbound.account_id, inbound.message_id)
    if (!message) return null
    await changeTicketCopy(trx, inbound.account_id, message.id, { text: null, mark: { deletedAt } })
    const isWaiting = await isUnanswered(trx, inbound.account_id, message)
    await storeDeletion(trx, inbound.account_id, message, deletedAt)
    return isWaiting ? answerAgain(ctx, trx, inbound) : tell(ctx, trx, inbound, message.conversation_id)
  })
  await stopAfterCommit(ctx, stopped)
}

const inboundOf = (trx: Trx, thread: ThreadRow, providerMessageId: string): Promise<Inbound | undefined> =>
  trx
    .selectFrom('inbound_messages')
    .selectAll()
    .where('account_id', '=', thread.account_id)
    .where('agent_id', '=', thread.agent_id)
    .where('thread_id', 'in', (eb) =>
      // Threads of one person were apart before the provider said that they are one.
      eb
        .selectFrom('channel_threads')
        .select('id')
        .where('account_id', '=', thread.account_id)
        .where('connection', '=', thread.connection)
        .where((or) =>
          or.or([
            or('id', '=', thread.id),
            ...(thread.contact_id === null ? [] : [or('contact_id', '=', thread.contact_id)]),
          ]),
        ),
    )
    .where('provider_message_id', '=', providerMessageId)
    .executeTakeFirst()

const storeContent = (trx: Trx, { account_id, id }: Inbound, content: InboundContent) =>
  trx
    .updateTable('inbound_messages')
    .set({ content: json(content) })
    .where(ownRow(account_id, id))
    .execute()

/** It will never become a message of a conversation. */
const setTaken = (trx: Trx, thread: ThreadRow, providerMessageId: string) =>
  trx
    .updateTable('inbound_messages')
    .set({ taken_in_at: new Date() })
    .where('account_id', '=', thread.account_id)
    .where('provider_message_id', '=', providerMessageId)
    .where('taken_in_at', 'is', null)
    .execute()

async function dropFiles(ctx: Deps, trx: Trx, { account_id, content }: Inbound): Promise<void> {
  const ids = content.attachments.map(({ id }) => id)
  for (const path of await deleteAttachments(trx, account_id, ids))
    await ctx.jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: path })
}

const messageOf = (trx: Trx, accountId: AccountId, id: string) =>
  trx
    .selectFrom('messages')
    .select(['id', 'conversation_id', 'seq'])
    .where(ownRow(accountId, id))
    .executeTakeFirst()

/** Locks the conversation, as the end of an answer does. */
async function isUnanswered(
  trx: Trx,
  accountId: AccountId,
  { conversation_id, seq }: { conversation_id: string; seq: number },
): Promise<boolean> {
  const conversation = await trx
    .selectFrom('conversations')
    .select(['status', 'answered_seq'])
    .where(ownRow(accountId, conversation_id))
    .forNoKeyUpdate()
    .executeTakeFirst()
  return conversation?.status === 'ongoing' && seq > conversation.answered_seq
}

/**
 * If the message is not answered yet, ends the running answer to its former text and requests one to the new text.
 * Returns the id of the answer to stop, or null.
 */
async function answerAgain(ctx: Deps, trx: Trx, inbound: Inbound): Promise<string | null> {
  const message = inbound.message_id
    ? await messageOf(trx, inbound.account_id, inbound.message_id)
    : undefined
  if (!message) return null
  const { conversation_id: conversationId } = message
  await tell(ctx, trx, inbound, conversationId)
  if (!(await isUnanswered(trx, inbound.account_id, message))) return null
  const stopped = await requestStop(trx, inbound.account_id, conversationId, 'takeover')
  await ctx.jobs.enqueue<Answer>(trx, ANSWER, { conversationId }, 1)
  return stopped
}

async function tell(ctx: Deps, trx: Trx, { account_id, agent_id }: Inbound, conversationId: string) {
  const ref = { accountId: account_id, agentId: agent_id }
  await publishDeskEvent(ctx, trx, ref, { type: 'conversation', data: { conversationId } })
  return null
}
