import { isDeepStrictEqual } from 'node:util'
import type { Context } from '../../../context.ts'
import { senderOf } from '../../../conversations/attachments/attachment-quota.ts'
import { wordsOf } from '../../../conversations/attachments/message-words.ts'
import { takeUploads } from '../../../conversations/attachments/uploads.ts'
import { acceptanceOf } from '../../../conversations/records/accept-offer.ts'
import { appendMessage } from '../../../conversations/records/append-message.ts'
import { textOf } from '../../../conversations/records/parts.ts'
import { metadataOf } from '../../../conversations/records/present.ts'
import {
  type ConversationRow,
  openConversation,
  readParent,
  requireConversation,
  titleFromWords,
  WIDGET,
} from '../../../conversations/records/queries.ts'
import { noteVoice } from '../../../conversations/records/set-status.ts'
import { storeCustomerMessage } from '../../../inbox/messages/store-customer-message.ts'
import { publishDeskEvent } from '../../../inbox/tickets/publish-desk-event.ts'
import { violates } from '../../../platform/db/connections/database-errors.ts'
import type { Db, Trx } from '../../../platform/db/database.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import { ApiError } from '../../../platform/http/errors.ts'
import { embedOriginOf } from '../page/embed-origin.ts'
import { requireOwnConversation, type Visit } from '../visitors/visitor.ts'

type Written = {
  messageId: string
  message: string
  /** The ids of files that the visitor has uploaded. */
  attachments?: string[]
  conversationId?: string
  /** The id of the answer whose offer the message accepts. */
  accepts?: string
  voice?: boolean
  /** The page on which the chat is embedded, as reported by the browser. */
  page?: string
  country: string | null
}

type Deps = Pick<Context, 'db' | 'notifier'>

/**
 * Stores a visitor's message exactly once, whatever happens to its answer. If the messageId exists, the stored message
 * is returned. Returns the conversation, which is a new one if none is named or the named one has ended. Throws
 * RESOURCE_NOT_FOUND, RESOURCE_DUPLICATE when the id belongs to another message, and VALIDATION_INVALID_BODY for a file
 * that is not this visitor's or was sent before.
 */
export async function storeMessage(ctx: Deps, visit: Visit, written: Written): Promise<ConversationRow> {
  try {
    return await transact(ctx.db, (trx) => store(ctx, trx, visit, written))
  } catch (error) {
    if (!violates(error, 'messages_pkey')) throw error
    // The browser has sent the message twice at the same time.
    const meanwhile = await findWritten(ctx.db, visit, written)
    if (meanwhile) return meanwhile
    throw error
  }
}

/**
 * Returns the conversation of an existing message. Throws RESOURCE_DUPLICATE when it is not this visitor's, or not this
 * message.
 */
export async function findWritten(
  db: Db,
  visit: Visit,
  { messageId, message: typed, attachments = [] }: Pick<Written, 'messageId' | 'message' | 'attachments'>,
): Promise<ConversationRow | undefined> {
  const { account_id: accountId, id: agentId } = visit.agent
  const message = await db
    .selectFrom('messages')
    .select(['account_id', 'agent_id', 'conversation_id', 'parts', 'metadata'])
    .where('id', '=', messageId)
    .executeTakeFirst()
  if (!message) return undefined
  const isHere = message.account_id === accountId && message.agent_id === agentId
  const conversation = isHere
    ? await requireConversation(db, { accountId, agentId, conversationId: message.conversation_id })
    : undefined
  const files = metadataOf(message).attachments ?? []
  const isSame =
    textOf(message) === wordsOf(typed, files) &&
    isDeepStrictEqual(
      files.map(({ id }) => id),
      attachments,
    )
  if (isSame && conversation?.source === WIDGET && conversation.user_id === visit.visitorId)
    return conversation
  throw new ApiError('RESOURCE_DUPLICATE', { message: 'This messageId is already in use. Create a new one.' })
}

async function store(ctx: Deps, trx: Trx, visit: Visit, written: Written): Promise<ConversationRow> {
  const { messageId, message, attachments: ids = [], conversationId, accepts, voice = false } = written
  const named =
    conversationId === undefined ? null : await requireOwnConversation(trx, visit, conversationId, true)
  const acceptance = named && accepts ? await acceptanceOf(trx, named, accepts) : null
  // The visitor has accepted it in another tab.
  if (named && acceptance === 'taken') return named
  const open = named?.status === 'ended' ? await begunAfter(trx, visit, named) : named
  const conversation =
    open ??
    (await beginConversation(
      trx,
      visit,
      {
        title: message === '' ? null : titleFromWords(message),
        country: written.country,
        page: written.page,
      },
      named,
    ))
  const { account_id, agent_id, id } = conversation
  const attachments = await takeUploads(trx, { accountId: account_id, agentId: agent_id }, ids, {
    sender: senderOf(visit.browserId),
    ticketId: null,
    conversationId: id,
  })
  const text = wordsOf(message, attachments)
  await appendMessage(trx, conversation, {
    id: messageId,
    role: 'user',
    parts: [{ type: 'text', text }],
    ...(attachments.length > 0 ? { metadata: { attachments } } : {}),
    ...(acceptance ? { metadata: { accepts } } : {}),
  })
  if (voice && !conversation.has_voice) await noteVoice(trx, conversation)
  await storeCustomerMessage(trx, conversation, { messageId, text, attachments })
  await publishDeskEvent(
    ctx,
    trx,
    { accountId: account_id, agentId: agent_id },
    { type: 'conversation', data: { conversationId: id } },
  )
  return conversation
}

/**
 * Finds the conversation that the visitor, perhaps in another tab, has started after one that ended. That one's row is
 * locked.
 */
async function begunAfter(
  trx: Trx,
  { visitorId }: Visit,
  ended: ConversationRow,
): Promise<ConversationRow | null> {
  const row = await trx
    .selectFrom('conversations')
    .selectAll()
    .where('account_id', '=', ended.account_id)
    .where('parent_conversation_id', '=', ended.id)
    .where('user_id', '=', visitorId)
    .where('status', '<>', 'ended')
    .orderBy('created_at', 'desc')
    .limit(1)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row ?? null
}

export async function beginConversation(
  trx: Trx,
  { agent, visitorId, contactId, locale }: Visit,
  { title, country, page }: { title: string | null; country: string | null; page: string | undefined },
  before: ConversationRow | null,
): Promise<ConversationRow> {
  const parent = before
    ? await readParent(trx, agent.account_id, agent.id, before.id, { userId: visitorId })
    : null
  return openConversation(trx, {
    account_id: agent.account_id,
    agent_id: agent.id,
    source: WIDGET,
    embed_origin: page === undefined ? null : embedOriginOf(page),
    user_id: visitorId,
    contact_id: contactId,
    country,
    locale,
    title,
    parent_conversation_id: parent?.id ?? null,
    parent_summary: parent?.summary ?? null,
  })
}
