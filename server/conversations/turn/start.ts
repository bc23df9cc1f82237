import { exhaustedIn, limitsOf } from '../../accounts/plans/credits.ts'
import type { Db, Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import { transact } from '../../db/statements/transact.ts'
import { type Last, lastly } from '../../db/statements/transaction.ts'
import { ApiError } from '../../http/errors.ts'
import { KeyTaken, rebindKey, takeKey } from '../../http/once/idempotency.ts'
import type { StoredSource } from '../../knowledge/search/answering/cited-source.ts'
import type { MessageMetadata } from '../records/present.ts'
import type { Parent, TranscriptMessage } from '../records/queries.ts'
import {
  type ConversationRow,
  type MessageRow,
  notOngoing,
  readParent,
  requireConversation,
  titleFromWords,
} from '../records/queries.ts'
import type { GenerationIds, LiveGeneration } from '../stream/live-generation.ts'
import { chooseModel, improveTitle, noting } from './ask-model.ts'
import { continueConversation, type Opening, openConversations } from './begin-statements.ts'
import { findRetry, planTurn, readHistory, readsAhead } from './plan-turn.ts'
import { runTurn } from './run-steps.ts'
import type { ChatRequest, StartedTurn, StartRequest, Turn, TurnNeeds } from './turn.ts'
import { askedText } from './understand.ts'

/** Stores the message and starts the reply; the generation then runs by itself, with or without a reader. */
export async function startChat(ctx: TurnNeeds, request: ChatRequest): Promise<LiveGeneration> {
  const { account, agent, transient = false } = request
  const model = chooseModel(ctx, request)
  let stored: StartedTurn | undefined
  const make = async () => {
    const { id, credits } = model.entry
    stored = await startGeneration(ctx, {
      ...request,
      model: { id, credits: request.trial ? 0 : credits },
    })
    return stored.ids
  }
  const live = await ctx.generations.start(account.id, make, { transient })
  // By now, Generations.start has called `make`, or it has thrown.
  const started = stored as unknown as StartedTurn
  const turn: Turn = {
    request,
    started,
    owner: { accountId: account.id, agentId: agent.id },
    question: askedText(started.transcript),
    model: noting(model, live),
  }
  runTurn(ctx, turn, live)
    // A model that has just failed is not asked for a title.
    .then((hasFailed) => (hasFailed ? undefined : giveTitle(ctx, turn, live)))
    .catch((error: unknown) => ctx.log.error({ err: error }, 'a generation failed with an unexpected error'))
  return live
}

async function giveTitle(ctx: TurnNeeds, turn: Turn, live: LiveGeneration): Promise<void> {
  const { request, started, model, owner, question } = turn
  if (started.isFirst && !request.transient && !request.trial && model.entry.provider !== 'builtin')
    await improveTitle(ctx, model, owner, live, question)
}

type Needs = Pick<TurnNeeds, 'db' | 'turnWriter' | 'process' | 'orphans' | 'hasTicket' | 'customerWrote'>

/**
 * Stores the user message and the running generation in one transaction and reserves the credits. From then on, nothing
 * is lost, whatever happens to the client or to this process. Throws the chat codes of the contract.
 */
export async function startGeneration(ctx: Needs, turn: StartRequest): Promise<StartedTurn> {
  const { conversationId } = turn
  try {
    return await start(ctx, turn)
  } catch (error) {
    if (!isBusy(error) || conversationId === undefined) throw refusalOf(error)
    // The generation that keeps the conversation busy may belong to a process that died.
    const isFree = await ctx.orphans.closeIfOrphaned(turn.account.id, { conversationId })
    if (!isFree) throw new ApiError('CHAT_CONVERSATION_BUSY')
  }
  try {
    return await start(ctx, turn)
  } catch (error) {
    throw isBusy(error) ? new ApiError('CHAT_CONVERSATION_BUSY') : refusalOf(error)
  }
}

function start(ctx: Needs, turn: StartRequest): Promise<StartedTurn> {
  const { ask, conversationId, parentConversationId, idempotency } = turn
  if (conversationId !== undefined) return transact(ctx.db, (trx) => goOn(ctx, trx, turn, conversationId))
  if (ask.kind !== 'message') throw new TypeError('A conversation starts with a message.')
  const message = ask.text
  if (parentConversationId === undefined && idempotency === null) return startAtOnce(ctx, turn, message)
  return transact(ctx.db, (trx) => startInTransaction(ctx, trx, turn, message))
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

/** Creates the ids for a turn that starts a conversation. */
const newIds = ({ process }: Needs, turn: StartRequest): GenerationIds => ({
  id: newId(),
  conversationId: newId(),
  userMessageId: newId(),
  messageId: newId(),
  userId: turn.userId ?? null,
  credits: turn.model.credits,
  kind: 'reply',
  epoch: process.epoch,
  firstEvent: 0,
})

const openingOf = (
  turn: StartRequest,
  ids: GenerationIds,
  message: string,
  parent: Parent | null,
): Opening => ({
  ...beginning(turn, ids),
  parts: textPart(message),
  source: turn.source,
  userId: ids.userId,
  title: titleFromWords(message),
  parentId: parent?.id ?? null,
  parentSummary: parent?.summary ?? null,
  externalId: turn.externalId ?? null,
  contactId: turn.contactId ?? null,
  transient: turn.transient ?? false,
})

const opened = (
  turn: StartRequest,
  ids: GenerationIds,
  message: string,
  parent: Parent | null,
): StartedTurn => ({
  ids,
  transcript: [...(turn.history ?? []), { role: 'user', parts: textPart(message) }],
  isFirst: true,
  parent,
  citedBefore: [],
})

/** Starts a conversation when nothing else has to be stored with it, so that no explicit transaction is needed. */
async function startAtOnce(ctx: Needs, turn: StartRequest, message: string): Promise<StartedTurn> {
  const ids = newIds(ctx, turn)
  const ref = { accountId: turn.account.id, agentId: turn.agent.id }
  await ctx.turnWriter.open(ref, limitsOfTurn(turn), openingOf(turn, ids, message, null))
  return opened(turn, ids, message, null)
}

/** Starts a conversation in the transaction that also takes its key or reads its parent. */
async function startInTransaction(
  ctx: Needs,
  trx: Trx,
  turn: StartRequest,
  message: string,
): Promise<StartedTurn> {
  const { account, agent, parentConversationId } = turn
  const ids = newIds(ctx, turn)
  await claimKey(trx, turn, ids.id)
  const parent =
    parentConversationId === undefined
      ? null
      : await readParent(trx, account.id, agent.id, parentConversationId, { userId: turn.userId ?? null })
  const openings = JSON.stringify([openingOf(turn, ids, message, parent)])
  await openConversations(trx, { ...limitsOfTurn(turn), owner: ctx.process.id, openings })
  return opened(turn, ids, message, parent)
}

async function goOn(
  { process, hasTicket, customerWrote }: Needs,
  trx: Trx,
  turn: StartRequest,
  conversationId: string,
): Promise<StartedTurn | Last<StartedTurn>> {
  const { account, agent, ask } = turn
  const message = ask.kind === 'message' ? ask.text : undefined
  const id = newId()
  // Started together in this order, the statements take one round trip, and each sees what was committed before the
  // lock was acquired.
  const claiming = claimKey(trx, turn, id)
  const locking = requireConversation(trx, { accountId: account.id, agentId: agent.id, conversationId }, true)
  const reading = readsAhead(turn) ? readHistory(trx, turn, conversationId, null) : null
  const isOnTicket = message === undefined ? null : hasTicket(trx, account.id, conversationId)
  const [conversation] = await Promise.all([locking, claiming, reading, isOnTicket])
  const target =
    ask.kind === 'retry' ? await findRetry(trx, account.id, conversation.id, ask.messageId) : null
  if (conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const plan = await planTurn(trx, turn, conversation, target, reading)
  const parts = message === undefined ? null : textPart(message)
  const nextIds = {
    id,
    conversationId,
    userMessageId: plan.userMessageId,
    messageId: plan.messageId,
    userId: conversation.user_id,
    credits: turn.model.credits,
    kind: plan.kind,
    epoch: process.epoch,
  }
  const asked: TranscriptMessage[] = parts ? [{ role: 'user', parts }] : []
  const parent = plan.isFirst ? await parentWithMessages(trx, turn, conversation) : parentOf(conversation)
  const started = ({ rows }: { rows: { first_event: number }[] }): StartedTurn => ({
    ids: { ...nextIds, firstEvent: rows[0]?.first_event ?? 0 },
    transcript: [...(turn.history ?? plan.history), ...asked],
    isFirst: plan.isFirst,
    parent,
    citedBefore: plan.kind === 'continuation' ? citedIn(plan.history.at(-1)) : [],
  })
  const going = continueConversation.query({
    ...limitsOfTurn(turn),
    ...beginning(turn, nextIds),
    owner: process.id,
    parts: parts && JSON.stringify(parts),
    askedSeq: plan.askedSeq,
    cutFrom: plan.cut?.from ?? null,
    cutTo: plan.cut?.to ?? null,
  })
  if (message === undefined || !(await isOnTicket)) return lastly(trx, going, started)
  const turnStarted = started(await trx.executeQuery(going))
  await customerWrote(trx, conversation, { messageId: plan.userMessageId, text: message })
  return turnStarted
}

/**
 * Takes the key as the first statement. Of several equal requests, one starts a generation, and the others are served
 * from it.
 */
async function claimKey(
  trx: Db,
  { idempotency, insteadOf }: StartRequest,
  generationId: string,
): Promise<void> {
  if (!idempotency) return
  if (insteadOf === undefined) return takeKey(trx, idempotency, { generationId })
  if (!(await rebindKey(trx, idempotency, insteadOf.generationId, generationId))) throw new KeyTaken()
}

/** Returns the parent for the first answer in a conversation that existed before it. */
async function parentWithMessages(
  trx: Trx,
  { account, agent }: StartRequest,
  { parent_conversation_id }: ConversationRow,
): Promise<Parent | null> {
  if (parent_conversation_id === null) return null
  return readParent(trx, account.id, agent.id, parent_conversation_id)
}

const parentOf = ({ parent_conversation_id, parent_summary }: ConversationRow): Parent | null =>
  parent_conversation_id === null || parent_summary === null
    ? null
    : { id: parent_conversation_id, summary: parent_summary, messages: [] }

const limitsOfTurn = ({ account, agent }: StartRequest) =>
  limitsOf({
    accountId: account.id,
    plan: account.plan,
    agentId: agent.id,
    agentLimit: agent.creditLimit,
  })

/** Returns the values that both statements of a start take. */
const beginning = ({ model, trial }: StartRequest, ids: Omit<GenerationIds, 'firstEvent'>) => ({
  entryId: newId(),
  generationId: ids.id,
  credits: ids.credits,
  entryKind: trial ? ('trial' as const) : ('usage' as const),
  conversationId: ids.conversationId,
  userMessageId: ids.userMessageId,
  messageId: ids.messageId,
  epoch: ids.epoch,
  model: model.id,
  kind: ids.kind,
})
