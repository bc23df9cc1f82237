import { setTimeout as wait } from 'node:timers/promises'
import type { LanguageModelV4Message } from '@ai-sdk/provider'
import { channelNames } from '../../agents/settings/channel-names.ts'
import { ModelFailure, whatHappened } from '../../ai/failures/model-failure.ts'
import { withoutMarkers } from '../../knowledge/search/answering/citations.ts'
import { isUnavailable } from '../../platform/db/connections/database-errors.ts'
import type { Trx } from '../../platform/db/database.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Guardrails } from '../../platform/db/tables/agents.ts'
import type { AnswerOutcome, MessagePart } from '../../platform/db/tables/conversations.ts'
import { storable, storableJson } from '../../platform/http/bodies/storable.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { CUSTOMER_SENTENCES } from '../../platform/text/languages/customer-sentences.ts'
import { withoutPaymentNumbers } from '../../platform/text/safety/payment-numbers.ts'
import { areTakenBack, asFarAsKept } from '../explanations/record-answer.ts'
import { confirmed, reportedTopic } from '../prompt/outcome-report.ts'
import { type Ungrounded, ungroundedValues } from '../prompt/ungrounded-values.ts'
import {
  type Call,
  closingResults,
  hasSpoken,
  hasWords,
  keptOfBroken,
  resultsOf,
  textOf,
  unresolvedCalls,
} from '../records/parts.ts'
import type { MessageMetadata } from '../records/present.ts'
import { interrupted } from '../records/queries.ts'
import { errorOf } from '../stream/generation-log.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import {
  type Ending,
  endTurn,
  firstEvents,
  lastWords,
  lostBeforeWords,
  type Outcome,
  type StoredMessage,
} from './end-turn.ts'
import type { Running, StepsResult, Turn } from './turn.ts'

/** How long a finished answer is kept in memory while the database is not available, in milliseconds. */
const MAX_HOLD_MS = 10 * 60_000
const MAX_PAUSE_MS = 1_000
/** The most characters of reasoning that are kept for the team. */
const MAX_REASONING = 20_000

/** Stores the reply, then tells the readers how it ended. */
export async function finishTurn(running: Running, result: StepsResult): Promise<void> {
  const { live } = running
  // An empty answer, for example after a content filter, is an answer, too.
  if (result.failure === null && live.abortReason === null) sendFirstEvents(live)
  const waiting = result.failure === null && live.abortReason === null ? result.waiting : []
  closeCalls(live, waiting)
  const outcome = outcomeOf(running, result, waiting)
  const ending = await store(running, outcome)
  // Nothing that comes after the answer, such as its title, may be made of words that nobody was sent.
  if (outcome.message?.held) live.parts.splice(0, live.parts.length, ...outcome.message.parts)
  if (ending === 'lost') return live.fail(interrupted())
  if (live.abortReason === 'shutdown') return leave(live)
  const { events, ending: how } = lastWords(live.ids, outcome, ending === 'stored' ? null : ending)
  const parts = outcome.message?.parts ?? []
  const shown =
    'metadata' in how
      ? { id: live.ids.messageId, role: 'assistant' as const, parts, metadata: how.metadata }
      : errorOf(how)
  live.endWith(events, shown)
}

function outcomeOf({ ctx, turn, live }: Running, result: StepsResult, waiting: Call[]): Outcome {
  const kept = partialAnswer(turn, live, result)
  const hasBegun = live.count > 0
  // An answer without words is not paid for, unless it was stopped before its first word and a model had been called.
  const isAnswer = kept.message !== null && hasSpoken(kept.message)
  const isPaid = isAnswer || (live.abortReason === 'stop' && live.wasAsked)
  const error = hasBegun ? null : errorBeforeWords(turn, live, result)
  const { accountId, agentId } = turn.owner
  const sources = kept.message?.metadata.sources ?? []
  return {
    ...kept,
    isPaid,
    waiting,
    record: turn.record?.made() ?? null,
    endedCalls: result.hasPending ? [...resultsOf(live.parts).values()] : [],
    unlogged: live.takeUnlogged(),
    told: {
      hasBegun,
      ...(error ? { error } : {}),
      errorText: told(turn, result.failure?.cause).message,
      sources: ctx.presentSources({ account_id: accountId, agent_id: agentId }, sources),
    },
  }
}

function errorBeforeWords(turn: Turn, live: LiveGeneration, { failure }: StepsResult): ApiError | null {
  if (failure) return asApiError(failure.cause, turn)
  if (!isCutOff(live)) return null
  return live.abortReason === 'shutdown' ? RESTARTING() : lostBeforeWords()
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

type KeptAnswer = Pick<Outcome, 'status' | 'finishReason' | 'message'>

/**
 * Whether the answer ended early because its process has to end or was declared dead. In the second case, another
 * process may not have closed the generation yet, and then this one still can.
 */
const isCutOff = ({ abortReason }: LiveGeneration): boolean =>
  abortReason === 'shutdown' || abortReason === 'lost'

function partialAnswer(turn: Turn, live: LiveGeneration, result: StepsResult): KeptAnswer {
  const model = {
    model: turn.model.entry.id,
    ...(live.ids.standIn === undefined ? {} : { isStandIn: true as const }),
  }
  const { redactsPayments } = turn.request.agent
  const thoughts = redactsPayments ? withoutPaymentNumbers(result.reasoning) : result.reasoning
  const thought = storable(thoughts.slice(0, MAX_REASONING).toWellFormed())
  const reasoning = thought === '' ? {} : { reasoning: thought }
  const said = storableJson(live.parts) as MessagePart[]
  const sources = hasSpoken({ parts: said }) ? result.citations.sources() : []
  const cited = sources.length > 0 ? { sources } : {}
  const isBroken = result.failure !== null || isCutOff(live)
  if (isBroken) {
    const parts = keptOfBroken(live.ids.kind, said)
    // A continuation can still be continued.
    const reason = live.ids.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const message =
      parts.length > 0 ? { parts, metadata: { ...reason, ...cited, ...model, ...reasoning } } : null
    return { status: result.failure ? 'failed' : 'interrupted', finishReason: 'error', message }
  }
  const status = live.abortReason === null ? 'finished' : 'interrupted'
  const finishReason = live.abortReason === null ? result.finishReason : 'stop'
  if (live.count === 0) return { status, finishReason, message: null }
  const { isIndexing } = result
  const outcome = outcomeReported(turn, said, result, sources.length > 0)
  const isOpen = outcome === 'not_found' && result.mayOffer && result.waiting.length === 0
  const offer = isOpen ? 'person' : result.offer
  // Somebody who stopped the answer expects no words, and a call that waits for its application is no end.
  const isSilent = status === 'finished' && result.waiting.length === 0 && !hasWords({ parts: said })
  const { parts, marks, held } = grounded(turn, said, result, status)
  const metadata: MessageMetadata = {
    score: result.score,
    outcome,
    ...topicOf(turn, result),
    ...(offer && !held ? { offer } : {}),
    ...(isIndexing ? { isIndexing } : {}),
    ...(result.isUnseen ? { isUnseen: true as const } : {}),
    ...(held ? {} : cited),
    ...marks,
    finishReason,
    ...model,
    ...(isSilent ? { isSilent: true as const } : {}),
    ...reasoning,
    ...(turn.record?.tokenRatio ? { tokenRatio: turn.record.tokenRatio } : {}),
    ...(Object.keys(result.replay).length > 0 ? { replay: storableJson(result.replay) as never } : {}),
  }
  return { status, finishReason, message: { parts, metadata, ...(held ? { held } : {}) } }
}

/** The built-in responder knows its outcome; what other models report has to be shown by the answer. */
function outcomeReported(
  { model, request, started }: Turn,
  said: readonly MessagePart[],
  { outcome, escalate }: StepsResult,
  hasSource: boolean,
): AnswerOutcome | null {
  if (model.entry.provider === 'builtin') return outcome
  // A continuation rests on the calls before it.
  const before = request.ask.kind === 'continue' ? (started.transcript.at(-1)?.parts ?? []) : []
  return confirmed(outcome, { hasSource, results: [...resultsOf([...before, ...said]).values()], escalate })
}

/** A topic counts with an outcome that was shown, so that a number alone says nothing. */
function topicOf(
  { request }: Turn,
  { outcome, topic }: StepsResult,
): Pick<MessageMetadata, 'forbiddenTopic'> {
  const isRefusal = outcome === 'refused' || outcome === 'handed_over'
  const forbiddenTopic = isRefusal ? reportedTopic(request.agent.guardrails.forbiddenTopics, topic) : null
  return forbiddenTopic === null ? {} : { forbiddenTopic }
}

/**
 * Returns the answer, its marks, and what is held for a person: the customer then reads that the team will answer.
 */
function grounded(turn: Turn, said: MessagePart[], result: StepsResult, status: Outcome['status']): Grounded {
  const ungrounded = ungroundedOf(turn, said, result)
  if (ungrounded.length === 0) return { parts: said, marks: {} }
  const isHeld = status === 'finished' && result.waiting.length === 0 && ungroundedRule(turn) === 'hold'
  if (!isHeld) return { parts: said, marks: { ungrounded } }
  const text = CUSTOMER_SENTENCES[result.language].teamTold
  return {
    parts: [...said.filter(({ type }) => type !== 'text'), { type: 'text', text }],
    marks: { isHeld: true, outcome: null },
    held: { text: withoutMarkers(textOf({ parts: said })), ungrounded },
  }
}

type Grounded = Pick<StoredMessage, 'parts' | 'held'> & {
  marks: Pick<MessageMetadata, 'ungrounded' | 'isHeld' | 'outcome'>
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
 * MAX_HOLD_MS, or is being closed, the process that closes the generation from its log takes over. A process that
 * was declared dead tries, too, because only the generation's row tells whether another one has closed it.
 */
async function store({ ctx, turn, live }: Running, outcome: Outcome): Promise<Ending> {
  const { db, log, process, generations, deliverAnswer } = ctx
  const own = { owner: process.id, epoch: live.ids.epoch, ownerAfter: process.id }
  const giveUpAt = performance.now() + MAX_HOLD_MS
  for (let attempt = 0; performance.now() < giveUpAt; attempt++) {
    try {
      return await transact(db, async (trx) => {
        const kept = await withoutWordsTakenBack(trx, turn, outcome)
        return endTurn({ deliverAnswer }, trx, turn.owner, live.ids, own, kept)
      })
    } catch (error) {
      if (attempt === 0)
        log.error({ err: error, generation: live.ids.id }, 'the end of a generation could not be stored yet')
      if (generations.closed) return 'lost'
      await wait(Math.min(MAX_PAUSE_MS, 50 * 2 ** attempt))
    }
  }
  return 'lost'
}

/** Removes the reasoning and the recorded texts if their model read words that their author has taken back meanwhile. */
async function withoutWordsTakenBack(trx: Trx, { owner, started }: Turn, outcome: Outcome): Promise<Outcome> {
  const { conversationId } = started.ids
  const { message } = outcome
  const record =
    outcome.record &&
    (await asFarAsKept(trx, { ...owner, conversationId }, outcome.record, started.transcript))
  const kept = { ...outcome, record: record ?? null }
  if (message?.metadata.reasoning === undefined) return kept
  if (!(await areTakenBack(trx, owner.accountId, conversationId, started.transcript))) return kept
  const { reasoning: _, ...metadata } = message.metadata
  return { ...kept, message: { ...message, metadata } }
}

/** Sends the stream's first events; a second call does nothing. */
export function sendFirstEvents(live: LiveGeneration): void {
  if (live.count === 0) for (const event of firstEvents(live.ids)) live.emit(event)
}

/**
 * Returns what becomes of an answer with values that its model was not given. Only on mail and messaging can it be
 * something else than a mark, since there, nobody has read it yet. There, it is held also if an application asked for it.
 */
export function ungroundedRule({ request, started }: Turn): Guardrails['ungrounded'] {
  const { ungrounded } = request.agent.guardrails
  if (request.trial) return 'mark'
  if (channelNames.some(({ settings }) => settings === request.channel)) return ungrounded
  const isSent = channelNames.some(({ source }) => source === started.source)
  return isSent && ungrounded === 'hold' ? 'hold' : 'mark'
}

/** The built-in responder quotes, so that only other models can say what they were not given. */
export const ungroundedOf = (
  { model }: Turn,
  said: readonly MessagePart[],
  { given }: Pick<StepsResult, 'given'>,
): Ungrounded[] =>
  model.entry.provider === 'builtin' ? [] : ungroundedValues(textOf({ parts: said }), given)

/** Asks for the answer once more. It holds the values, so it does not count as given. */
export const askForGrounds = (values: readonly Ungrounded[]): LanguageModelV4Message => ({
  role: 'user',
  content: [
    {
      type: 'text',
      text: `(The customer has not seen this answer, because these of its values stand in nothing that you were given: ${JSON.stringify(values.map(({ text }) => text))}. Write the whole answer once more, in the same language, with nothing but what you were given. Leave out what you do not know, and say so. Do not mention this.)`,
    },
  ],
})
