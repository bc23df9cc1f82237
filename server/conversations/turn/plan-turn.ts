import { type RawBuilder, type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { ConversationsTable } from '../../platform/db/tables/conversations.ts'
import type { BusinessHours } from '../../platform/db/tables/helpdesk.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Customer } from '../prompt/build-prompt.ts'
import { ignoreWaitingCalls, waitingCalls } from '../records/parts.ts'
import { type MessageMetadata, metadataOf } from '../records/present.ts'
import { type ConversationRow, type MessageRow, messagesBackwards } from '../records/queries.ts'
import type { StartRequest, Surroundings } from './turn.ts'

const MAX_HISTORY = 40
/** So many messages of it are left out at once. */
const STEP = 20
/** The most replies to one message of a channel that may be started, however each of them ended. */
export const MAX_STARTS = 10

export type Plan = {
  kind: 'reply' | 'continuation' | 'retry'
  userMessageId: string
  /** The number of the user's message, if it already exists. */
  askedSeq: number | null
  messageId: string
  history: MessageRow[]
  cut: { from: number; to: number } | null
  isFirst: boolean
}

/**
 * Returns the number of the last message that the history leaves out. It moves in steps, so that prompts begin alike for
 * some turns. What is summarised is left out.
 */
export function leftOutUntil(lastSeq: number, { summarised_seq: summarised }: Summarised): number {
  const byCount = lastSeq > MAX_HISTORY ? Math.floor((lastSeq - STEP) / STEP) * STEP : 0
  return Math.max(byCount, summarised < lastSeq ? summarised : 0)
}

type Summarised = Pick<ConversationRow, 'summarised_seq'>

async function readHistory(
  trx: Trx,
  { account }: StartRequest,
  { id, last_seq, summarised_seq }: ConversationRow,
  beforeSeq: number | null,
): Promise<MessageRow[]> {
  const afterSeq = leftOutUntil(beforeSeq === null ? last_seq : beforeSeq - 1, { summarised_seq })
  const page = { limit: MAX_HISTORY - 1, beforeSeq, afterSeq }
  const found = await messagesBackwards(trx, account.id, id, page)
  const newest = found.filter((row) => metadataOf(row).deletedAt === undefined).reverse()
  // Some providers reject a history that begins in the middle of an exchange.
  return afterSeq === 0
    ? newest
    : newest.slice(
        Math.max(
          0,
          newest.findIndex(({ role }) => role === 'user'),
        ),
      )
}

/** Returns the changes that the turn makes to the conversation, whose row is locked. */
export async function planTurn(
  trx: Trx,
  turn: StartRequest,
  conversation: ConversationRow,
  retried: RetryTarget | null,
): Promise<Plan> {
  const { account, agent, ask } = turn
  const { id, last_seq } = conversation
  const messageId = turn.insteadOf?.messageId ?? newId()
  if (retried) {
    const { from, question } = retried
    const history = await readHistory(trx, turn, conversation, question.seq + 1)
    return {
      kind: 'retry',
      userMessageId: question.id,
      askedSeq: question.seq,
      messageId,
      history,
      cut: { from, to: last_seq },
      isFirst: false,
    }
  }
  if (agent.toolsVersion > 0) {
    await ignoreWaitingCalls(trx, account.id, id, { expiredOnly: ask.kind === 'continue' })
  }
  const history = await readHistory(trx, turn, conversation, null)
  const reply = { kind: 'reply' as const, messageId, history, cut: null }
  if (ask.kind === 'message') {
    const unanswered = history.at(-1)
    const before =
      unanswered?.role === 'user' ? await answerNeverMade(trx, account.id, id, unanswered.seq) : undefined
    return {
      ...reply,
      messageId: before?.message_id ?? messageId,
      userMessageId: newId(),
      askedSeq: null,
      isFirst: false,
    }
  }
  if (ask.kind === 'pending') {
    if (turn.insteadOf === undefined && conversation.answer_starts >= MAX_STARTS)
      throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
    const unfinished = await findUnfinished(trx, account.id, conversation, history)
    if (unfinished) return { kind: 'continuation', ...unfinished, history, cut: null, isFirst: false }
    const asked = readPending(conversation, history)
    const isFirst = history.every(({ role }) => role === 'user')
    return { ...reply, ...asked, isFirst }
  }
  if (history.at(-1)?.role === 'user') {
    // The earlier answer failed: the process died, or the model failed.
    const asked = readPending(conversation, history)
    return { ...reply, ...asked, isFirst: history.every(({ role }) => role === 'user') }
  }
  const continued = await requireContinuable(trx, account.id, id, history)
  return { kind: 'continuation', ...continued, history, cut: null, isFirst: false }
}

/**
 * Returns the answer to the message with this number if it ended before its first word. Its client may have been told
 * its id, so the answer to this message and the next one keeps the id.
 */
const answerNeverMade = (trx: Trx, accountId: AccountId, conversationId: string, askedSeq: number) =>
  trx
    .selectFrom('generations')
    .select('message_id')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where('asked_seq', '=', askedSeq)
    .where('kind', '=', 'reply')
    .where('message_state', '=', 'none')
    .where('stop_reason', 'is', null)
    .orderBy('first_event', 'desc')
    .limit(1)
    .executeTakeFirst()

/**
 * Returns the assistant message that continues from the results of its actions, and the user message that it answers.
 * Throws CHAT_NOTHING_TO_CONTINUE when the newest message is not waiting for results, or when some are still missing.
 */
async function requireContinuable(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  history: MessageRow[],
): Promise<{ userMessageId: string; askedSeq: number; messageId: string }> {
  const newest = history.at(-1)
  const { finishReason } = (newest?.metadata ?? {}) as MessageMetadata
  if (newest?.role !== 'assistant' || finishReason !== 'tool-calls') {
    throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
  }
  const waiting = await waitingCalls(db, accountId, conversationId)
  if (waiting.length > 0) {
    const list = waiting.map(({ id, name }) => `${name} (${id})`).join(', ')
    throw new ApiError('CHAT_NOTHING_TO_CONTINUE', {
      message: `There is no message, and actions still wait for their results: ${list}. Send them to tool-result first.`,
    })
  }
  const asked = history.findLast(({ role }) => role === 'user') ?? newest
  return { userMessageId: asked.id, askedSeq: asked.seq, messageId: newest.id }
}

/**
 * Returns the answer that was withheld from a channel after its actions had run, if it is the newest message, and the
 * newest of the messages that it answers.
 */
async function findUnfinished(
  db: Db,
  accountId: AccountId,
  { id, answered_seq }: Pick<ConversationRow, 'id' | 'answered_seq'>,
  history: MessageRow[],
): Promise<{ userMessageId: string; askedSeq: number; messageId: string } | null> {
  const newest = history.at(-1)
  const asked = history.findLast(({ role }) => role === 'user')
  const { finishReason } = (newest?.metadata ?? {}) as MessageMetadata
  if (newest?.role !== 'assistant' || finishReason !== 'tool-calls') return null
  if (!asked || asked.seq <= answered_seq) return null
  // The message may also be complete, and the customer has written while it was being generated.
  const made = await db
    .selectFrom('generations')
    .select('asked_seq')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', id)
    .where('message_id', '=', newest.id)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  if (!made || made.asked_seq <= answered_seq) return null
  return { userMessageId: asked.id, askedSeq: asked.seq, messageId: newest.id }
}

type RetryTarget = { from: number; question: { id: string; seq: number } }

/** Returns where a retry cuts (the number of the assistant message), and the user message that it answers again. */
export async function findRetry(
  db: Db,
  accountId: AccountId,
  conversationId: string,
  messageId: string,
): Promise<RetryTarget> {
  const messages = db
    .selectFrom('messages')
    .select(['id', 'seq'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
  const target = isId(messageId)
    ? await messages.where('id', '=', messageId).where('role', '=', 'assistant').executeTakeFirst()
    : undefined
  if (!target) throw new ApiError('CHAT_RETRY_MESSAGE_NOT_FOUND')
  const question = await messages
    .where('role', '=', 'user')
    .where('seq', '<', target.seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!question) throw new ApiError('CHAT_RETRY_NO_USER_MESSAGE')
  return { from: target.seq, question }
}

/**
 * Returns the customer's newest message, and the history with everything unanswered moved to its end, as the model has
 * to read it: messages on channels arrive at any time, even while an answer is being generated. Throws
 * CHAT_NOTHING_TO_CONTINUE when everything is answered. The caller holds the lock of the conversation's row.
 */
function readPending(
  { answered_seq }: Pick<ConversationRow, 'answered_seq'>,
  history: MessageRow[],
): { userMessageId: string; askedSeq: number; history: MessageRow[] } {
  const isOpen = ({ role, seq }: MessageRow): boolean => role === 'user' && seq > answered_seq
  const open = history.filter(isOpen)
  const newest = open.at(-1)
  if (!newest) throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
  const others = history.filter((message) => !isOpen(message))
  return {
    userMessageId: newest.id,
    askedSeq: newest.seq,
    // Providers reject a history without a message of the user before the first answer.
    history: others.some(({ role }) => role === 'user') ? [...others, ...open] : history,
  }
}

/** Whose conversation it is, and where. */
export type Place = {
  contactId: string | null
  /** The external id of a contact, where an application that is trusted has named it. */
  externalId: string | null
  country: string | null
  /** The language and region that their browser asks for. */
  locale: string | null
  page: string | null
}

/** What one statement reads from the database, as JSON. */
export type Known = {
  contact: Pick<Customer, 'name' | 'attributes'> | null
  hours: BusinessHours | null
}

/** Returns an SQL expression that evaluates to `Known`; `hours` is the expression for the business hours. */
export const knownSurroundings = (
  { accountId, agentId }: AgentRef,
  { contactId, externalId }: Place,
  hours: RawBuilder<BusinessHours | null>,
): RawBuilder<Known> => sql`jsonb_build_object(
  'contact', (
    select jsonb_build_object('name', name, 'attributes', (
      select jsonb_object_agg(given.key, given.value) from jsonb_each(contacts.custom_attributes) as given
      where exists (select from custom_attributes as kept where kept.account_id = ${accountId}::uuid
        and kept.agent_id = ${agentId} and kept.name = given.key and not kept.archived)))
    from contacts where account_id = ${accountId}::uuid and agent_id = ${agentId}
      and ${contactId === null ? sql`external_id = ${externalId}` : sql`id = ${contactId}::uuid`}),
  'hours', (${hours}))`

export function surroundingsOf({ country, locale, page }: Place, known: Known | null): Surroundings {
  const { contact = null, hours = null } = known ?? {}
  return {
    customer: { name: contact?.name ?? null, country, locale, page, attributes: contact?.attributes ?? {} },
    hours,
  }
}

/** Returns where a conversation takes place. */
export const placeOf = (
  row: Pick<
    Selectable<ConversationsTable>,
    'contact_id' | 'source' | 'user_id' | 'country' | 'locale' | 'embed_origin'
  >,
): Place => ({
  contactId: row.contact_id,
  externalId: row.source === API ? row.user_id : null,
  country: row.country,
  locale: row.locale,
  page: row.embed_origin,
})

/** Returns where a conversation takes place that an application or a member begins. */
export const newPlace = ({
  contactId = null,
  userId = null,
  source,
}: {
  contactId?: string | null | undefined
  userId?: string | null | undefined
  source: string
}): Place => ({
  contactId,
  externalId: source === API ? userId : null,
  country: null,
  locale: null,
  page: null,
})

/** The value of conversations.source for conversations of applications. */
const API = 'API'

/** Returns the time of a message, in the zone of the opening hours, and these hours. */
export function timeLines(hours: BusinessHours | null, time: Date): string[] {
  const timeZone = hours?.timeZone ?? 'UTC'
  const now = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' }).format(
    time,
  )
  const clock = `Time of the message: ${now} (${timeZone})`
  if (!hours) return [clock]
  const days = WEEK.map((day) => {
    const open = (hours.days[day] ?? []).map(({ from, to }) => `${from}-${to}`)
    return `${day} ${open.join(' and ') || 'closed'}`
  })
  const today = time.toISOString().slice(0, 10)
  const closed = hours.holidays.filter((day) => day >= today).slice(0, MAX_HOLIDAYS)
  return [
    clock,
    `Hours in which the team answers: ${days.join(', ')}${closed.length > 0 ? `; closed on ${closed.join(', ')}` : ''}`,
  ]
}

const WEEK = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const
const MAX_HOLIDAYS = 10
