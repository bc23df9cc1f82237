import { setTimeout as wait } from 'node:timers/promises'
import type { Static } from 'typebox'
import { isUnavailable } from '../../db/connections/unavailable.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import { storableJson } from '../../http/bodies/storable.ts'
import { ApiError } from '../../http/errors.ts'
import { presentSourcesOf } from '../../knowledge/search/answering/present-sources.ts'
import type { CitedSource } from '../../knowledge/search/answering/schema.ts'
import { ModelFailure, whatHappened } from '../../models/failures/model-failure.ts'
import {
  type Call,
  closingResults,
  hasSpoken,
  hasWords,
  keptOfBroken,
  resultsOf,
  unresolvedCalls,
} from '../records/parts.ts'
import type { MessageMetadata } from '../records/present.ts'
import { interrupted, notOngoing } from '../records/queries.ts'
import type { AnswerOutcome } from '../records/schema.ts'
import type { FinishMetadata, FinishReason, StreamEvent } from '../stream/events.ts'
import { errorEnding, errorOf, type LastWords } from '../stream/generation-log.ts'
import type { AnswerMetadata } from '../stream/growing-reading.ts'
import type { GenerationIds, LiveGeneration } from '../stream/live-generation.ts'
import { type Ending, type Outcome, storeEnd } from './store-end.ts'
import type { StepsResult, Turn, TurnNeeds } from './turn.ts'

/** How long a finished answer is kept in memory while the database is not available, in milliseconds. */
const LONGEST_HOLD_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 1_000

/** Stores the reply, then tells the readers how it ended. */
export async function finishTurn(
  ctx: TurnNeeds,
  turn: Turn,
  live: LiveGeneration,
  result: StepsResult,
): Promise<void> {
  // An empty answer, for example after a content filter, is an answer, too.
  if (result.failure === null && live.abortReason === null) sendFirstEvents(live)
  const waiting = result.failure === null && live.abortReason === null ? result.waiting : []
  closeCalls(live, waiting)
  const said = saidBy(turn, live, result)
  const outcome: Outcome = {
    ...said,
    waiting,
    endedCalls: result.hasPending ? [...resultsOf(live.parts).values()] : [],
    get unlogged() {
      // Read at each attempt, because more may have been logged since the last one.
      return { position: live.count - live.unsaved.length, events: live.unsaved }
    },
    lastWords: (over) => (over ? handedOffBy(live, over, said) : spokenBy(ctx, turn, live, result, said)),
  }
  const ending = await store(ctx, turn, live, outcome)
  if (ending === 'lost') return live.fail(interrupted())
  if (live.abortReason === 'shutdown') return leave(live)
  const { events, ending: how } = outcome.lastWords(ending === 'stored' ? null : ending)
  const parts = said.message?.parts ?? []
  const shown =
    'metadata' in how
      ? { id: live.ids.messageId, role: 'assistant' as const, parts, metadata: how.metadata }
      : (errorOf(how) as ApiError)
  live.endWith(events, shown)
}

/** Adds results to the calls that nobody will answer any more. */
function closeCalls(live: LiveGeneration, waiting: Call[]): void {
  const ids = new Set(waiting.map(({ id }) => id))
  const dropped = unresolvedCalls(live.parts).filter(({ toolCallId }) => !ids.has(toolCallId))
  for (const call of dropped) call.providerExecuted = true
  for (const result of closingResults(dropped)) {
    live.parts.push(result)
    const { toolCallId, output } = result
    live.emit({ type: 'tool-output-available', toolCallId, output, providerExecuted: true })
  }
}

type KeptAnswer = Pick<Outcome, 'status' | 'finishReason' | 'message' | 'isPaid'>

/**
 * An answer without words is not paid for, unless it was stopped before its first word and a model had been called.
 */
function saidBy(turn: Turn, live: LiveGeneration, result: StepsResult): KeptAnswer {
  const said = keptBy(turn, live, result)
  const isAnswer = said.message !== null && hasSpoken(said.message)
  return { ...said, isPaid: isAnswer || (live.abortReason === 'stop' && live.wasAsked) }
}

/**
 * Whether the answer ended early because its process has to end or was declared dead. In the second case, another
 * process may not have closed the generation yet, and then this one still can.
 */
const isCutOff = ({ abortReason }: LiveGeneration): boolean =>
  abortReason === 'shutdown' || abortReason === 'lost'

function keptBy(turn: Turn, live: LiveGeneration, result: StepsResult): Omit<KeptAnswer, 'isPaid'> {
  const model = {
    model: turn.model.entry.id,
    ...(live.ids.standIn === undefined ? {} : { isStandIn: true as const }),
  }
  const said = storableJson(live.parts) as MessagePart[]
  const sources = hasSpoken({ parts: said }) ? result.citations.sources() : []
  const cited = sources.length > 0 ? { sources } : {}
  const isBroken = result.failure !== null || isCutOff(live)
  if (isBroken) {
    const parts = keptOfBroken(live.ids.kind, said)
    // A continuation can still be continued.
    const reason = live.ids.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const message = parts.length > 0 ? { parts, metadata: { ...reason, ...cited, ...model } } : null
    return { status: result.failure ? 'failed' : 'interrupted', finishReason: 'error', message }
  }
  const status = live.abortReason === null ? 'finished' : 'interrupted'
  const finishReason = live.abortReason === null ? result.finishReason : 'stop'
  if (live.count === 0) return { status, finishReason, message: null }
  const { outcome, offer, isIndexing } = result
  // Somebody who stopped the answer expects no words, and a call that waits for its application is no end.
  const isSilent = status === 'finished' && result.waiting.length === 0 && !hasWords({ parts: said })
  const metadata: MessageMetadata = {
    score: result.score,
    outcome,
    ...(offer ? { offer } : {}),
    ...(isIndexing ? { isIndexing } : {}),
    ...cited,
    finishReason,
    ...model,
    ...(isSilent ? { isSilent: true as const } : {}),
    ...(Object.keys(result.replay).length > 0 ? { replay: storableJson(result.replay) as never } : {}),
  }
  return { status, finishReason, message: { parts: said, metadata } }
}

const creditsOf = (live: LiveGeneration, { isPaid }: KeptAnswer): number => (isPaid ? live.ids.credits : 0)

function handedOffBy(live: LiveGeneration, status: 'taken_over' | 'ended', said: KeptAnswer): LastWords {
  return handoffWords(live.ids, status, {
    hasBegun: live.count > 0,
    credits: creditsOf(live, said),
  })
}

function spokenBy(
  ctx: TurnNeeds,
  turn: Turn,
  live: LiveGeneration,
  result: StepsResult,
  said: KeptAnswer,
): LastWords {
  const { finishReason, message } = said
  const hasBegun = live.count > 0
  if (!hasBegun && result.failure) return wordless(asApiError(result.failure.cause, turn))
  if (!hasBegun && isCutOff(live))
    return wordless(live.abortReason === 'shutdown' ? RESTARTING() : WORDLESS())
  return lastWords(live.ids, {
    hasBegun,
    credits: creditsOf(live, said),
    finishReason,
    failed: finishReason === 'error',
    errorText: told(turn, result.failure?.cause).message,
    score: message?.metadata.score,
    outcome: message?.metadata.outcome,
    offer: message?.metadata.offer,
    sources: presentSourcesOf(ctx)(
      { account_id: turn.owner.accountId, agent_id: turn.owner.agentId },
      message?.metadata.sources ?? [],
    ),
  })
}

/** Reports a failure as the provider's error only if it was one. */
function asApiError(cause: unknown, turn: Turn): ApiError {
  if (cause instanceof ModelFailure) {
    const details = { provider: turn.model.entry.provider }
    return new ApiError('CHAT_PROVIDER_ERROR', { ...told(turn, cause), details, cause })
  }
  if (isUnavailable(cause)) {
    return new ApiError('SERVICE_OVERLOADED', {
      message: 'The database is temporarily unavailable. The message is stored: send the request again.',
      cause,
    })
  }
  return cause instanceof ApiError ? cause : new ApiError('INTERNAL_SERVER_ERROR', { cause })
}

/** Only readers in the playground can do something about a model. */
const told = ({ request }: Turn, cause: unknown): { message?: string } =>
  request.trial && cause instanceof ModelFailure
    ? { message: `${whatHappened(cause)}; check Workspace > Models.` }
    : {}

const RESTARTING = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The service is being restarted. The conversation keeps the text so far.',
  })

/** Returns the error for an answer whose process was lost before its first word. */
export const WORDLESS = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted before its first word. Send the request again.',
  })

/** Tells the readers to reconnect in a moment, because this process is shutting down and the answer is stored. */
function leave(live: LiveGeneration): void {
  const events =
    live.count > 0
      ? [{ type: 'data-reattach' as const, data: { afterMs: 1_000 }, transient: true as const }]
      : []
  live.endWith(events, RESTARTING())
}

/**
 * Stores the end before the client is told of it, with retries. If the database still refuses it after
 * LONGEST_HOLD_MS, or is being closed, the process that closes the generation from its log takes over. A process that
 * was declared dead tries, too, because only the generation's row tells whether another one has closed it.
 */
async function store(
  { db, log, process, generations, deliverAnswer, turnWriter }: TurnNeeds,
  turn: Turn,
  live: LiveGeneration,
  outcome: Outcome,
): Promise<Ending> {
  const own = { owner: process.id, epoch: live.ids.epoch, ownerAfter: process.id }
  const giveUpAt = performance.now() + LONGEST_HOLD_MS
  for (let attempt = 0; performance.now() < giveUpAt; attempt++) {
    try {
      return await storeEnd({ db, deliverAnswer, turnWriter }, turn.owner, live.ids, own, outcome)
    } catch (error) {
      if (attempt === 0)
        log.error({ err: error, generation: live.ids.id }, 'the end of a generation could not be stored yet')
      if (generations.closed) return 'lost'
      await wait(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** attempt))
    }
  }
  return 'lost'
}

const ERROR_TEXT = 'The answer could not be completed. Please try again.'

const finishMetadata = (ids: GenerationIds, credits: number): FinishMetadata => {
  const { messageId, userMessageId, conversationId, userId, standIn } = ids
  const model = standIn === undefined ? {} : { model: standIn }
  return { messageId, userMessageId, conversationId, userId, usage: { credits }, ...model }
}

export const firstEvents = (ids: GenerationIds): StreamEvent[] => [
  { type: 'start', messageId: ids.messageId },
  // This is sent early, so that a page reloaded in mid-answer knows the conversation.
  { type: 'message-metadata', messageMetadata: finishMetadata(ids, ids.credits) },
  { type: 'start-step' },
]

/** Sends the stream's first events; a second call does nothing. */
export function sendFirstEvents(live: LiveGeneration): void {
  if (live.count === 0) for (const event of firstEvents(live.ids)) live.emit(event)
}

type Closing = {
  /** Whether its first events have been sent. */
  hasBegun: boolean
  credits: number
  finishReason: FinishReason
  failed: boolean
  errorText?: string | undefined
  score?: number | null
  outcome?: AnswerOutcome | null
  offer?: 'person' | undefined
  sources?: Static<typeof CitedSource>[]
}

/** Returns the end of an answer that is kept. */
export function lastWords(
  ids: GenerationIds,
  {
    hasBegun,
    credits,
    finishReason,
    failed,
    errorText = ERROR_TEXT,
    score,
    outcome = null,
    offer,
    sources = [],
  }: Closing,
): LastWords {
  const messageMetadata = { ...finishMetadata(ids, credits), ...(offer ? { offer } : {}) }
  const { messageId: _, ...shared } = messageMetadata
  const metadata: AnswerMetadata = {
    ...shared,
    finishReason,
    score: score ?? null,
    outcome,
    sources,
  }
  return {
    events: [
      ...(hasBegun ? [] : firstEvents(ids)),
      ...(sources.length > 0 ? [{ type: 'data-sources' as const, data: { sources } }] : []),
      ...(failed ? [{ type: 'error' as const, errorText }] : []),
      { type: 'finish-step' },
      { type: 'finish', finishReason, messageMetadata },
    ],
    ending: { metadata },
  }
}

/**
 * Returns the end of an answer after a person has taken over or ended the conversation: nothing of the answer is
 * kept, and no more of it is shown.
 */
export function handoffWords(
  ids: GenerationIds,
  status: 'taken_over' | 'ended',
  { hasBegun, credits }: { hasBegun: boolean; credits: number },
): LastWords {
  return {
    events: [
      ...(hasBegun ? [] : firstEvents(ids)),
      { type: 'data-handoff', data: { status } },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop', messageMetadata: finishMetadata(ids, credits) },
    ],
    ending: errorEnding(notOngoing(status)),
  }
}

/** Returns the end of a generation that failed before its first word. */
export const wordless = (error: ApiError): LastWords => ({ events: [], ending: errorEnding(error) })
