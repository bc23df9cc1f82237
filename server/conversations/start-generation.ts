import { reserveCredits } from '../accounts/credits.ts'
import type { Db, Trx } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId } from '../db/tables.ts'
import { ApiError, invalidField } from '../http/errors.ts'
import { closeExpired } from './close-orphans.ts'
import type { GenerationIds } from './live-generation.ts'
import { type MessageRow, messagesBackwards, requireApiConversation } from './queries.ts'
import { continueConversation, openConversation } from './store-turn.ts'
import { titleFromWords } from './title.ts'

const MOST_HISTORY = 40

export type Turn = {
  account: { id: AccountId; plan: string }
  agent: { id: string; creditLimit: number | null }
  model: { id: string; credits: number }
  /** Where the conversation comes from when this turn starts it, as conversations.source. */
  source: string
  message: string | undefined
  conversationId: string | undefined
  userId: string | undefined
}

export type StartedTurn = {
  ids: GenerationIds
  question: string
  /** The messages before the question, oldest first. */
  history: MessageRow[]
  isFirst: boolean
}

/**
 * Stores the user message and the running generation, with its credits reserved, in one transaction: after
 * it nothing is lost, whatever happens to the client or to this process. Throws the chat codes of the contract.
 */
export async function startGeneration(db: Db, turn: Turn): Promise<StartedTurn> {
  const { message } = turn
  if (message === undefined) throw await nothingToContinue(db, turn)
  try {
    return await db.transaction().execute((trx) => store(trx, { ...turn, message }))
  } catch (error) {
    if (!isBusy(error) || turn.conversationId === undefined) throw error
    // The one that holds the conversation may belong to a process that died.
    if (!(await closeExpired(db, turn.conversationId))) throw new ApiError('CHAT_CONVERSATION_BUSY')
  }
  try {
    return await db.transaction().execute((trx) => store(trx, { ...turn, message }))
  } catch (error) {
    throw isBusy(error) ? new ApiError('CHAT_CONVERSATION_BUSY') : error
  }
}

const isBusy = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'generations_running'

async function nothingToContinue(db: Db, { account, agent, conversationId }: Turn): Promise<ApiError> {
  if (conversationId === undefined) {
    return invalidField('message', 'This field is required to start a conversation.')
  }
  const conversation = await requireApiConversation(db, account.id, agent.id, conversationId)
  return conversation.status === 'ongoing'
    ? new ApiError('CHAT_NOTHING_TO_CONTINUE')
    : notOngoing(conversation.status)
}

const notOngoing = (status: string): ApiError =>
  new ApiError('CHAT_CONVERSATION_NOT_ONGOING', {
    message: `The conversation is ${status.replace('_', ' ')}, not ongoing. Start a new one.`,
    details: { status },
  })

async function store(trx: Trx, turn: Turn & { message: string }): Promise<StartedTurn> {
  const { account, agent, message, conversationId } = turn
  const place = conversationId === undefined ? newPlace(turn) : await findPlace(trx, turn, conversationId)
  const ids: GenerationIds = {
    id: newId(),
    conversationId: place.conversationId,
    userMessageId: newId(),
    messageId: newId(),
    userId: place.userId,
    credits: turn.model.credits,
  }
  const owner = { accountId: account.id, agentId: agent.id }
  const beginning = { parts: [{ type: 'text' as const, text: message }], model: turn.model.id }
  if (conversationId === undefined) {
    await openConversation(trx, owner, ids, {
      ...beginning,
      source: turn.source,
      title: titleFromWords(message),
    })
  } else await continueConversation(trx, owner, ids, beginning)
  // Last, because every turn of the account meets at these rows.
  const exhausted = await reserveCredits(trx, {
    ...owner,
    plan: account.plan,
    agentLimit: agent.creditLimit,
    generationId: ids.id,
    credits: ids.credits,
  })
  if (exhausted) {
    throw new ApiError(exhausted === 'agent' ? 'CHAT_AGENT_CREDITS_EXHAUSTED' : 'CHAT_CREDITS_EXHAUSTED')
  }
  return { ids, question: message, history: place.history, isFirst: conversationId === undefined }
}

type Place = { conversationId: string; userId: string | null; history: MessageRow[] }

const newPlace = ({ userId }: Turn): Place => ({
  conversationId: newId(),
  userId: userId ?? null,
  history: [],
})

/** Locks the conversation and reads what was said before. */
async function findPlace(trx: Trx, { account, agent }: Turn, conversationId: string): Promise<Place> {
  const conversation = await requireApiConversation(trx, account.id, agent.id, conversationId, true)
  if (conversation.status !== 'ongoing') throw notOngoing(conversation.status)
  const page = { limit: MOST_HISTORY - 1, beforeSeq: null }
  const newest = await messagesBackwards(trx, account.id, conversationId, page)
  return { conversationId, userId: conversation.user_id, history: newest.reverse() }
}
