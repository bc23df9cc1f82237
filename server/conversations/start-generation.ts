import { reserveCredits } from '../accounts/credits.ts'
import type { Db, Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { transact } from '../db/transact.ts'
import { ApiError } from '../http/errors.ts'
import { bindGeneration } from '../http/idempotency.ts'
import { closeExpired } from './close-orphans.ts'
import { requireContinuable } from './continuation.ts'
import type { Said } from './history.ts'
import type { GenerationIds } from './live-generation.ts'
import { type Parent, readParent } from './parent-conversation.ts'
import {
  type ConversationRow,
  type MessageRow,
  messagesBackwards,
  requireApiConversation,
  requireConversation,
} from './queries.ts'
import { findRetry, type RetryTarget } from './retry-target.ts'
import { notOngoing } from './status.ts'
import { continueConversation, openConversation } from './store-turn.ts'
import { titleFromWords } from './title.ts'
import { ignoreWaitingCalls } from './tool-calls.ts'
import { readPending } from './unanswered.ts'

const MOST_HISTORY = 40

export type Turn = {
  account: { id: AccountId; plan: string }
  agent: { id: string; creditLimit: number | null; toolsVersion: number }
  model: { id: string; credits: number }
  /** Where the conversation comes from when this turn starts it, as conversations.source. */
  source: string
  /** undefined: go on from the results of the application's actions, or answer again. */
  message?: string
  /** undefined: start a new conversation. */
  conversationId?: string
  userId?: string
  parentConversationId?: string
  externalId?: string
  contactId?: string
  /** Stands in the place of the stored history. */
  told?: Said[]
  transient?: boolean
  /** The assistant message that has to be answered anew. */
  retryOf?: string
  /** Answer what the conversation already holds and nobody has answered, as on channels, where messages come first. */
  pending?: boolean
  idempotencyKey: string | null
}

/** Puts a customer's message on the ticket of its conversation; the help desk is above this folder. */
export type CustomerWrote = (
  trx: Trx,
  conversation: ConversationRow,
  message: { messageId: string; text: string },
) => Promise<void>

type Needs = { db: Db; customerWrote: CustomerWrote }

export type StartedTurn = {
  ids: GenerationIds
  /** Oldest first, up to what has to be answered. */
  transcript: Said[]
  isFirst: boolean
  parent: Parent | null
}

/**
 * Stores the user message and the running generation, with its credits reserved, in one transaction: after
 * it nothing is lost, whatever happens to the client or to this process. Throws the chat codes of the contract.
 */
export async function startGeneration({ db, customerWrote }: Needs, turn: Turn): Promise<StartedTurn> {
  const { message, conversationId } = turn
  if (conversationId === undefined) {
    if (message === undefined) throw new TypeError('A conversation starts with a message.')
    return transact(db, (trx) => startConversation(trx, turn, message))
  }
  const start = (trx: Trx): Promise<StartedTurn> => goOn(trx, turn, conversationId, customerWrote)
  try {
    return await transact(db, start)
  } catch (error) {
    if (!isBusy(error)) throw error
    // The one that holds the conversation may belong to a process that died.
    if (!(await closeExpired(db, conversationId))) throw new ApiError('CHAT_CONVERSATION_BUSY')
  }
  try {
    return await transact(db, start)
  } catch (error) {
    throw isBusy(error) ? new ApiError('CHAT_CONVERSATION_BUSY') : error
  }
}

const isBusy = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'generations_running'

const textPart = (text: string) => [{ type: 'text' as const, text }]

async function startConversation(trx: Trx, turn: Turn, message: string): Promise<StartedTurn> {
  const { account, agent, parentConversationId } = turn
  const parent =
    parentConversationId === undefined
      ? null
      : await readParent(trx, account.id, agent.id, parentConversationId, turn.userId)
  const ids = {
    id: newId(),
    conversationId: newId(),
    userMessageId: newId(),
    messageId: newId(),
    userId: turn.userId ?? null,
    credits: turn.model.credits,
    kind: 'reply' as const,
    firstEvent: 0,
  }
  const parts = textPart(message)
  await openConversation(trx, { accountId: account.id, agentId: agent.id }, ids, {
    parts,
    model: turn.model.id,
    source: turn.source,
    title: titleFromWords(message),
    parent,
    externalId: turn.externalId ?? null,
    contactId: turn.contactId ?? null,
    transient: turn.transient ?? false,
  })
  await reserve(trx, turn, ids)
  return { ids, transcript: [...(turn.told ?? []), { role: 'user', parts }], isFirst: true, parent }
}

async function goOn(
  trx: Trx,
  turn: Turn,
  conversationId: string,
  customerWrote: CustomerWrote,
): Promise<StartedTurn> {
  const { account, agent, message } = turn
  const require = turn.source === 'API' && !turn.pending ? requireApiConversation : requireConversation
  const conversation = await require(trx, account.id, agent.id, conversationId, true)
  const target =
    turn.retryOf === undefined ? null : await findRetry(trx, account.id, conversation.id, turn.retryOf)
  if (conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const plan = await planTurn(trx, turn, conversation, target)
  const parts = message === undefined ? null : textPart(message)
  const newIds = {
    id: newId(),
    conversationId,
    userMessageId: plan.userMessageId,
    messageId: plan.messageId,
    userId: conversation.user_id,
    credits: turn.model.credits,
    kind: plan.kind,
  }
  const owner = { accountId: account.id, agentId: agent.id }
  const beginning = { model: turn.model.id, parts, cut: plan.cut }
  const { firstEvent, hasTicket } = await continueConversation(trx, owner, newIds, beginning)
  if (hasTicket && message !== undefined)
    await customerWrote(trx, conversation, { messageId: plan.userMessageId, text: message })
  const ids = { ...newIds, firstEvent }
  await reserve(trx, turn, ids)
  const asked: Said[] = parts ? [{ role: 'user', parts }] : []
  return {
    ids,
    transcript: [...(turn.told ?? plan.history), ...asked],
    isFirst: plan.isFirst,
    parent: plan.isFirst ? await parentWithMessages(trx, turn, conversation) : parentOf(conversation),
  }
}

type Plan = {
  kind: 'reply' | 'continuation' | 'retry'
  userMessageId: string
  messageId: string
  history: MessageRow[]
  cut: { from: number; to: number } | null
  isFirst: boolean
}

/** What the turn does to the conversation, whose row is locked. */
async function planTurn(
  trx: Trx,
  turn: Turn,
  { id, last_seq }: ConversationRow,
  retried: RetryTarget | null,
): Promise<Plan> {
  const { account, agent } = turn
  const read = async (beforeSeq: number | null): Promise<MessageRow[]> => {
    const page = { limit: MOST_HISTORY - 1, beforeSeq }
    const newest = (await messagesBackwards(trx, account.id, id, page)).reverse()
    // Some providers refuse a history that begins in the middle of an exchange.
    return newest.length < MOST_HISTORY
      ? newest
      : newest.slice(newest.findIndex(({ role }) => role === 'user'))
  }
  if (retried) {
    const { from, question } = retried
    const history = await read(question.seq + 1)
    return {
      kind: 'retry',
      userMessageId: question.id,
      messageId: newId(),
      history,
      cut: { from, to: last_seq },
      isFirst: false,
    }
  }
  // An agent that never had an action has no calls that could wait.
  if (agent.toolsVersion > 0) {
    const goesOn = turn.message === undefined && !turn.pending
    await ignoreWaitingCalls(trx, account.id, id, { expiredOnly: goesOn })
  }
  const history = await read(null)
  const reply = { kind: 'reply' as const, messageId: newId(), history, cut: null }
  if (turn.message !== undefined) return { ...reply, userMessageId: newId(), isFirst: false }
  if (turn.pending) {
    const asked = await readPending(trx, account.id, id, history)
    const isFirst = history.every(({ role }) => role === 'user')
    return { ...reply, ...asked, isFirst }
  }
  const { userMessageId, messageId } = await requireContinuable(trx, account.id, id, history)
  return { kind: 'continuation', userMessageId, messageId, history, cut: null, isFirst: false }
}

/** For the first answer of a conversation that was there before it. */
async function parentWithMessages(
  trx: Trx,
  { account, agent }: Turn,
  { parent_conversation_id }: ConversationRow,
): Promise<Parent | null> {
  if (parent_conversation_id === null) return null
  return readParent(trx, account.id, agent.id, parent_conversation_id, undefined)
}

const parentOf = ({ parent_conversation_id, parent_summary }: ConversationRow): Parent | null =>
  parent_conversation_id === null || parent_summary === null
    ? null
    : { id: parent_conversation_id, summary: parent_summary, messages: [] }

/** Last in the transaction, because every turn of the account meets at these rows. */
async function reserve(trx: Trx, turn: Turn, ids: GenerationIds): Promise<void> {
  const { account, agent, idempotencyKey } = turn
  if (idempotencyKey !== null) await bindGeneration(trx, account.id, idempotencyKey, ids.id)
  const exhausted = await reserveCredits(trx, {
    accountId: account.id,
    agentId: agent.id,
    plan: account.plan,
    agentLimit: agent.creditLimit,
    generationId: ids.id,
    credits: ids.credits,
  })
  if (exhausted) {
    throw new ApiError(exhausted === 'agent' ? 'CHAT_AGENT_CREDITS_EXHAUSTED' : 'CHAT_CREDITS_EXHAUSTED')
  }
}
