import { exhaustedIn, reservationOf } from '../../accounts/plans/credits.ts'
import type { Db, Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { transact } from '../../db/statements/transact.ts'
import { type Last, lastly } from '../../db/statements/transaction.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import type { ServiceProcess } from '../../db/upkeep/processes.ts'
import { ApiError } from '../../http/errors.ts'
import { type KeyedRequest, KeyTaken, rebindKey, takeKey } from '../../http/once/idempotency.ts'
import type { MessageMetadata } from '../records/present.ts'
import {
  type ConversationRow,
  type MessageRow,
  messagesBackwards,
  requireConversation,
} from '../records/queries.ts'
import { notOngoing } from '../records/status.ts'
import { titleFromWords } from '../records/title.ts'
import { ignoreWaitingCalls } from '../records/tool-calls.ts'
import { readPending } from '../replies/unanswered.ts'
import type { GenerationIds } from '../stream/live-generation.ts'
import type { StoredSource } from './cite.ts'
import { closeIfOrphaned } from './close-orphans.ts'
import { requireContinuable } from './continuation.ts'
import type { Said } from './history.ts'
import { type Parent, readParent } from './parent-conversation.ts'
import { findRetry, type RetryTarget } from './retry-target.ts'
import { continueConversation, openConversation } from './store-turn.ts'

const MOST_HISTORY = 40
/** The most replies to one message of a channel that may be started, however each of them ended. */
export const MOST_STARTS = 10

export type Turn = {
  account: { id: AccountId; plan: string }
  agent: { id: string; creditLimit: number | null; toolsVersion: number }
  model: { id: string; credits: number }
  /** The value for conversations.source if this turn starts the conversation. */
  source: string
  /** The user's message; undefined to continue from the results of the application's actions, or to answer again. */
  message?: string
  /** The conversation to continue; undefined to start a new one. */
  conversationId?: string
  userId?: string
  parentConversationId?: string
  externalId?: string
  contactId?: string
  /** Replaces the stored history. */
  told?: Said[]
  transient?: boolean
  /** Set for a run of the playground, which is not counted. */
  trial?: object
  /** The id of the assistant message to generate again. */
  retryOf?: string
  /**
   * Whether to answer the unanswered message that the conversation already holds, as on channels, where messages are
   * stored first.
   */
  pending?: boolean
  /** The request's Idempotency-Key, which is taken together with the generation. */
  idempotency: KeyedRequest | null
  /** The failed generation that the key is bound to, which this turn replaces. */
  insteadOf?: string
}

/** Puts a customer's message on the ticket of its conversation; the help desk is above this folder. */
export type CustomerWrote = (
  trx: Trx,
  conversation: ConversationRow,
  message: { messageId: string; text: string },
) => Promise<void>

type Needs = { db: Db; process: ServiceProcess; customerWrote: CustomerWrote }

export type StartedTurn = {
  ids: GenerationIds
  /** The messages, oldest first, up to the one to answer. */
  transcript: Said[]
  isFirst: boolean
  parent: Parent | null
  /** The citations of the message that a continuation goes on with. */
  citedBefore: StoredSource[]
}

/**
 * Stores the user message and the running generation in one transaction, with its credits reserved. After that,
 * nothing is lost whatever happens to the client or to this process. Throws the chat codes of the contract.
 */
export async function startGeneration(ctx: Needs, turn: Turn): Promise<StartedTurn> {
  const { conversationId } = turn
  try {
    return await start(ctx, turn)
  } catch (error) {
    if (!isBusy(error) || conversationId === undefined) throw refusalOf(error)
    // The generation that keeps the conversation busy may belong to a process that died.
    const isFree = await closeIfOrphaned(ctx.db, turn.account.id, { conversationId })
    if (!isFree) throw new ApiError('CHAT_CONVERSATION_BUSY')
  }
  try {
    return await start(ctx, turn)
  } catch (error) {
    throw isBusy(error) ? new ApiError('CHAT_CONVERSATION_BUSY') : refusalOf(error)
  }
}

function start(ctx: Needs, turn: Turn): Promise<StartedTurn> {
  const { message, conversationId, parentConversationId, idempotency } = turn
  if (conversationId !== undefined) return transact(ctx.db, (trx) => goOn(ctx, trx, turn, conversationId))
  if (message === undefined) throw new TypeError('A conversation starts with a message.')
  // A single statement needs no explicit transaction.
  if (parentConversationId === undefined && idempotency === null)
    return startConversation(ctx, ctx.db, turn, message)
  return transact(ctx.db, (trx) => startConversation(ctx, trx, turn, message))
}

const citedIn = (row: MessageRow | undefined): StoredSource[] =>
  ((row?.metadata ?? {}) as MessageMetadata).sources ?? []

function refusalOf(error: unknown): unknown {
  const exhausted = exhaustedIn(error)
  if (exhausted === null) return error
  return new ApiError(exhausted === 'agent' ? 'CHAT_AGENT_CREDITS_EXHAUSTED' : 'CHAT_CREDITS_EXHAUSTED')
}

const isBusy = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'generations_running'

const textPart = (text: string) => [{ type: 'text' as const, text }]

async function startConversation(
  { process }: Needs,
  trx: Db,
  turn: Turn,
  message: string,
): Promise<StartedTurn> {
  const { account, agent, parentConversationId } = turn
  const id = newId()
  await claimKey(trx, turn, id)
  const parent =
    parentConversationId === undefined
      ? null
      : await readParent(trx, account.id, agent.id, parentConversationId, turn.userId)
  const ids = {
    id,
    conversationId: newId(),
    userMessageId: newId(),
    messageId: newId(),
    userId: turn.userId ?? null,
    credits: turn.model.credits,
    kind: 'reply' as const,
    epoch: process.epoch,
    firstEvent: 0,
  }
  const parts = textPart(message)
  await openConversation(trx, {
    ...beginning(turn, ids, process.id, { parts, askedSeq: null, cut: null }),
    source: turn.source,
    userId: ids.userId,
    title: titleFromWords(message),
    parentId: parent?.id ?? null,
    parentSummary: parent?.summary ?? null,
    externalId: turn.externalId ?? null,
    contactId: turn.contactId ?? null,
    transient: turn.transient ?? false,
  })
  return {
    ids,
    transcript: [...(turn.told ?? []), { role: 'user', parts }],
    isFirst: true,
    parent,
    citedBefore: [],
  }
}

async function goOn(
  { process, customerWrote }: Needs,
  trx: Trx,
  turn: Turn,
  conversationId: string,
): Promise<StartedTurn | Last<StartedTurn>> {
  const { account, agent, message } = turn
  const id = newId()
  // Started together in this order, the statements take one round trip, and each sees what was committed before the
  // lock was acquired.
  const claiming = claimKey(trx, turn, id)
  const locking = requireConversation(trx, account.id, agent.id, conversationId, true)
  const reading = readsAhead(turn) ? readHistory(trx, turn, conversationId, null) : null
  const hasTicket = message === undefined ? null : isOnTicket(trx, account.id, conversationId)
  const [conversation] = await Promise.all([locking, claiming, reading, hasTicket])
  const target =
    turn.retryOf === undefined ? null : await findRetry(trx, account.id, conversation.id, turn.retryOf)
  if (conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const plan = await planTurn(trx, turn, conversation, target, reading)
  const parts = message === undefined ? null : textPart(message)
  const newIds = {
    id,
    conversationId,
    userMessageId: plan.userMessageId,
    messageId: plan.messageId,
    userId: conversation.user_id,
    credits: turn.model.credits,
    kind: plan.kind,
    epoch: process.epoch,
  }
  const asked: Said[] = parts ? [{ role: 'user', parts }] : []
  const parent = plan.isFirst ? await parentWithMessages(trx, turn, conversation) : parentOf(conversation)
  const started = ({ rows }: { rows: { first_event: number }[] }): StartedTurn => ({
    ids: { ...newIds, firstEvent: rows[0]?.first_event ?? 0 },
    transcript: [...(turn.told ?? plan.history), ...asked],
    isFirst: plan.isFirst,
    parent,
    citedBefore: plan.kind === 'continuation' ? citedIn(plan.history.at(-1)) : [],
  })
  const going = continueConversation.query(beginning(turn, newIds, process.id, { parts, ...plan }))
  if (message === undefined || !(await hasTicket)) return lastly(trx, going, started)
  const turnStarted = started(await trx.executeQuery(going))
  await customerWrote(trx, conversation, { messageId: plan.userMessageId, text: message })
  return turnStarted
}

/**
 * Takes the key as the first statement. Of several equal requests, one starts a generation, and the others are served
 * from it.
 */
async function claimKey(trx: Db, { idempotency, insteadOf }: Turn, generationId: string): Promise<void> {
  if (!idempotency) return
  if (insteadOf === undefined) return takeKey(trx, idempotency, { generationId })
  if (!(await rebindKey(trx, idempotency, insteadOf, generationId))) throw new KeyTaken()
}

type Plan = {
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
 * Returns whether the history can be read together with the lock. An agent that never had an action has no waiting
 * calls, which would have to be closed before the history is read.
 */
const readsAhead = ({ retryOf, agent }: Turn): boolean => retryOf === undefined && agent.toolsVersion === 0

async function readHistory(
  trx: Trx,
  { account }: Turn,
  conversationId: string,
  beforeSeq: number | null,
): Promise<MessageRow[]> {
  const page = { limit: MOST_HISTORY - 1, beforeSeq }
  const newest = (await messagesBackwards(trx, account.id, conversationId, page)).reverse()
  // Some providers refuse a history that begins in the middle of an exchange.
  return newest.length < MOST_HISTORY ? newest : newest.slice(newest.findIndex(({ role }) => role === 'user'))
}

async function isOnTicket(trx: Trx, accountId: AccountId, conversationId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('tickets')
    .select('id')
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the changes that the turn makes to the conversation, whose row is locked. */
async function planTurn(
  trx: Trx,
  turn: Turn,
  conversation: ConversationRow,
  retried: RetryTarget | null,
  readAhead: Promise<MessageRow[]> | null,
): Promise<Plan> {
  const { account, agent } = turn
  const { id, last_seq } = conversation
  if (retried) {
    const { from, question } = retried
    const history = await readHistory(trx, turn, id, question.seq + 1)
    return {
      kind: 'retry',
      userMessageId: question.id,
      askedSeq: question.seq,
      messageId: newId(),
      history,
      cut: { from, to: last_seq },
      isFirst: false,
    }
  }
  if (agent.toolsVersion > 0) {
    const goesOn = turn.message === undefined && !turn.pending
    await ignoreWaitingCalls(trx, account.id, id, { expiredOnly: goesOn })
  }
  const history = await (readAhead ?? readHistory(trx, turn, id, null))
  const reply = { kind: 'reply' as const, messageId: newId(), history, cut: null }
  if (turn.message !== undefined) return { ...reply, userMessageId: newId(), askedSeq: null, isFirst: false }
  if (turn.pending) {
    if (turn.insteadOf === undefined && conversation.answer_starts >= MOST_STARTS)
      throw new ApiError('CHAT_NOTHING_TO_CONTINUE')
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

/** Returns the values that both statements of a start take. */
function beginning(
  { account, agent, model, trial }: Turn,
  ids: Omit<GenerationIds, 'firstEvent'>,
  owner: string,
  { parts, askedSeq, cut }: { parts: MessagePart[] | null } & Pick<Plan, 'askedSeq' | 'cut'>,
) {
  return {
    ...reservationOf({
      accountId: account.id,
      plan: account.plan,
      agentId: agent.id,
      agentLimit: agent.creditLimit,
      generationId: ids.id,
      credits: ids.credits,
      entryKind: trial ? 'trial' : 'usage',
    }),
    conversationId: ids.conversationId,
    userMessageId: ids.userMessageId,
    messageId: ids.messageId,
    owner,
    epoch: ids.epoch,
    model: model.id,
    kind: ids.kind,
    parts: parts && JSON.stringify(parts),
    askedSeq,
    cutFrom: cut?.from ?? null,
    cutTo: cut?.to ?? null,
  }
}
