import { type Selectable, sql } from 'kysely'
import { CHANNEL_NAMES } from '../../agents/settings/channel-names.ts'
import type { Context } from '../../context.ts'
import { giveAttachments } from '../../conversations/attachments/attachments.ts'
import { wordsOf } from '../../conversations/attachments/message-words.ts'
import { acceptanceOf } from '../../conversations/records/accept-offer.ts'
import { appendMessage } from '../../conversations/records/append-message.ts'
import { openConversation, readParent, titleFromWords } from '../../conversations/records/queries.ts'
import { storeCustomerMessage } from '../../inbox/messages/store-customer-message.ts'
import { openTicket } from '../../inbox/tickets/open-ticket.ts'
import { publishDeskEvent } from '../../inbox/tickets/publish-desk-event.ts'
import { countryOfPhone, isPhone } from '../../people/records/phone-number.ts'
import type { Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type {
  ChannelThreadsTable,
  InboundContent,
  InboundMessagesTable,
} from '../../platform/db/tables/channels.ts'
import type { ConversationsTable } from '../../platform/db/tables/conversations.ts'
import { PROCESS_INBOUND, type ProcessInbound, QUIET_SECONDS } from './receive-message.ts'

export const ANSWER = 'answer-conversation'

export type Answer = { conversationId: string }

type Thread = Selectable<ChannelThreadsTable>
type Waiting = Selectable<InboundMessagesTable>
type Conversation = Selectable<ConversationsTable>

/** The longest wait for somebody who keeps writing. */
const MAX_WAIT_SECONDS = 10

type Deps = Pick<Context, 'db' | 'jobs' | 'notifier'>

/**
 * Adds the waiting messages of a thread to its open conversation, or to a new one that follows the last, in the
 * order in which they were sent. The thread's row is locked, so two processes never open two conversations. It may
 * run twice.
 */
export async function processInbound(ctx: Deps, { threadId }: ProcessInbound): Promise<void> {
  await transact(ctx.db, async (trx) => {
    const thread = await trx
      .selectFrom('channel_threads')
      .selectAll()
      .where('id', '=', threadId)
      // A reply that ends locks the conversation and then refers to the thread, which FOR UPDATE would block.
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!thread) return
    const { rows: waiting } = await sql<Waiting & { too_early: boolean }>`
      select *,
        -- A message from the future was received before the clock of the database was set back.
        max(created_at) over () between now() - ${QUIET_SECONDS} * interval '1 second' and now() + interval '1 second'
        and min(created_at) over () > now() - ${MAX_WAIT_SECONDS} * interval '1 second' as too_early
      from inbound_messages where account_id = ${thread.account_id} and thread_id = ${threadId} and taken_in_at is null
      order by sent_at, id`.execute(trx)
    const [first] = waiting
    if (!first) return
    if (first.too_early) {
      await ctx.jobs.enqueue<ProcessInbound>(trx, PROCESS_INBOUND, { threadId }, QUIET_SECONDS)
      return
    }
    const conversation = await openOrNew(
      trx,
      thread,
      wordsOf(first.content.text, first.content.attachments) || saidIn(first.content),
    )
    const said: Waiting[] = []
    for (const message of waiting) if (await append(trx, conversation, message)) said.push(message)
    await tell(ctx, trx, conversation, said)
    const wantsAnswer = said.some(({ content }) => !content.silent)
    if (conversation.status === 'ongoing' && wantsAnswer) {
      await ctx.jobs.enqueue<Answer>(trx, ANSWER, { conversationId: conversation.id })
    }
    const unread = said.flatMap(({ content }) => content.unreadable ?? [])
    if (conversation.status === 'ongoing' && unread.length > 0)
      await openTicket(ctx, trx, {
        accountId: conversation.account_id,
        agentId: conversation.agent_id,
        conversationId: conversation.id,
        subject: conversation.title,
        description: `A message of the type “${unread.join('”, “')}” cannot be shown here. Look at it in the app of the channel, or ask the customer to write it in words.`,
        customer: { id: conversation.user_id, name: null, email: null, phoneNumber: null },
        assigneeId: null,
      })
  })
}

/** Returns the open conversation of the thread, or a new one that follows the last and has `firstWords` as its title. */
export async function openOrNew(trx: Trx, thread: Thread, firstWords: string): Promise<Conversation> {
  const newest = await newestOf(trx, thread)
  if (newest && newest.status !== 'ended') return newest
  const parent = newest ? await readParent(trx, thread.account_id, thread.agent_id, newest.id) : null
  return newConversation(trx, thread, titleFromWords(firstWords), parent)
}

/** Locks the last conversation of a thread, whatever its status, and returns it. */
function newestOf(trx: Trx, thread: Thread): Promise<Conversation | undefined> {
  return trx
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', thread.account_id)
    .where('thread_id', '=', thread.id)
    .orderBy('created_at', 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Creates a conversation of a thread, still without messages. */
export async function newConversation(
  trx: Trx,
  thread: Thread,
  title: string,
  parent: { id: string; summary: string } | null,
): Promise<Conversation> {
  const contact = thread.contact_id
    ? await trx
        .selectFrom('contacts')
        .select(['id', 'external_id'])
        .where(ownRow(thread.account_id, thread.contact_id))
        .executeTakeFirst()
    : undefined
  return openConversation(trx, {
    account_id: thread.account_id,
    agent_id: thread.agent_id,
    source: CHANNEL_NAMES[thread.channel].source,
    user_id: contact?.external_id ?? null,
    contact_id: contact?.id ?? null,
    title,
    parent_conversation_id: parent?.id ?? null,
    parent_summary: parent?.summary ?? null,
    thread_id: thread.id,
    country: isPhone(thread.peer) ? countryOfPhone(thread.peer) : countryOfId(thread),
  })
}

/** Ids of people on messaging channels that are no numbers begin with the country. */
const countryOfId = ({ channel, peer }: Thread): string | null =>
  channel === 'messaging' ? (/^([A-Z]{2})\.\w/.exec(peer)?.[1] ?? null) : null

/** What it refers to follows the words. Files that are still being fetched are shown by their names. */
export const saidIn = ({ text, attachments, awaited = [], about = [] }: InboundContent): string =>
  wordsOf([text, ...about].filter(Boolean).join('\n'), [...attachments, ...awaited])

const attachmentsIn = ({ attachments }: InboundContent) => (attachments.length > 0 ? { attachments } : {})

/** Returns false for a button that was pressed before, which changes nothing. */
async function append(trx: Trx, conversation: Conversation, message: Waiting): Promise<boolean> {
  const { id, account_id, content } = message
  const { accepts } = content
  const acceptance = accepts ? await acceptanceOf(trx, conversation, accepts) : null
  const isRepeated = acceptance === 'taken'
  const messageId = isRepeated
    ? null
    : await appendMessage(trx, conversation, {
        role: 'user',
        parts: [{ type: 'text', text: saidIn(content) }],
        ...(content.attachments.length > 0 ? { metadata: attachmentsIn(content) } : {}),
        ...(acceptance === 'open' ? { metadata: { accepts } } : {}),
        ...(content.editedAt === undefined
          ? {}
          : { metadata: { editedAt: content.editedAt, ...attachmentsIn(content) } }),
      })
  const files = content.attachments.map((attachment) => attachment.id)
  await giveAttachments(trx, account_id, files, { conversation_id: conversation.id })
  await trx
    .updateTable('inbound_messages')
    .set({ message_id: messageId, taken_in_at: new Date() })
    .where(ownRow(account_id, id))
    .execute()
  message.message_id = messageId
  return !isRepeated
}

/** The team sees it live, and on the ticket if a person has the conversation. */
async function tell(ctx: Deps, trx: Trx, conversation: Conversation, messages: Waiting[]): Promise<void> {
  const { account_id: accountId, agent_id: agentId, id: conversationId } = conversation
  for (const { content, message_id } of messages) {
    await storeCustomerMessage(trx, conversation, {
      messageId: message_id,
      text: saidIn(content),
      attachments: content.attachments,
      ...(content.mail ? { mail: content.mail } : {}),
      isAutomatic: content.silentBecause !== undefined && content.silentBecause !== 'tooMany',
    })
  }
  await publishDeskEvent(ctx, trx, { accountId, agentId }, { type: 'conversation', data: { conversationId } })
}
