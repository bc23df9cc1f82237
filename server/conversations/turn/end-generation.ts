import { setTimeout as wait } from 'node:timers/promises'
import { isUnavailable } from '../../db/connections/unavailable.ts'
import type { MessagePart } from '../../db/tables/conversations.ts'
import { storableJson } from '../../http/bodies/storable.ts'
import { ApiError } from '../../http/errors.ts'
import { ModelFailure } from '../../models/failures/model-failure.ts'
import { closingResults, keptOfBroken, unresolvedCalls } from '../records/parts.ts'
import type { MessageMetadata } from '../records/present.ts'
import { presentSourcesOf } from '../records/source-address.ts'
import type { Call } from '../records/tool-calls.ts'
import { errorOf } from '../stream/generation-log.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'
import { type LastWords, lastWords, silencedWords, wordless } from './ending-events.ts'
import { type Ending, finishGeneration, type Outcome } from './finish-generation.ts'
import type { Deps, Job, Told } from './generation-job.ts'
import { begin } from './speak-step.ts'

/** How long a finished answer is kept in memory while the database is not available, in milliseconds. */
const LONGEST_HOLD_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 1_000

/** Stores the reply, then tells the readers how it ended. */
export async function endGeneration(deps: Deps, job: Job, live: LiveGeneration, told: Told): Promise<void> {
  // An answer without a word (a filter, a tired model) is an answer, too.
  if (told.failure === null && live.abortReason === null) begin(live)
  const waiting = told.failure === null && live.abortReason === null ? told.waiting : []
  closeCalls(live, waiting)
  const said = saidBy(job, live, told)
  const outcome: Outcome = {
    ...said,
    waiting,
    get unlogged() {
      // At the moment of the attempt: more may have been logged since the last one.
      return { position: live.count - live.unsaved.length, events: live.unsaved }
    },
    lastWords: (over) => (over ? silencedBy(live, over, said) : spokenBy(deps, job, live, told, said)),
  }
  const ending = await store(deps, job, live, outcome)
  if (ending === 'lost') return live.fail(TAKEN())
  if (live.abortReason === 'shutdown') return leave(live)
  const { events, ending: how } = outcome.lastWords(ending === 'stored' ? null : ending)
  const parts = said.message?.parts ?? []
  const result =
    'metadata' in how
      ? { id: live.ids.messageId, role: 'assistant' as const, parts, metadata: how.metadata }
      : (errorOf(how) as ApiError)
  live.endWith(events, result)
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

type Said = Pick<Outcome, 'status' | 'finishReason' | 'message' | 'isPaid'>

/** An answer that was stopped before its first word is still paid for if a model was called. */
function saidBy(job: Job, live: LiveGeneration, told: Told): Said {
  const said = keptBy(job, live, told)
  return { ...said, isPaid: said.message !== null || (live.abortReason === 'stop' && live.wasAsked) }
}

function keptBy(job: Job, live: LiveGeneration, told: Told): Omit<Said, 'isPaid'> {
  const model = {
    model: job.model.id,
    ...(live.ids.standIn === undefined ? {} : { isStandIn: true as const }),
  }
  const said = storableJson(live.parts) as MessagePart[]
  const sources = told.citations.sources()
  const cited = sources.length > 0 ? { sources } : {}
  const isBroken = told.failure !== null || live.abortReason === 'shutdown'
  if (isBroken) {
    const parts = keptOfBroken(live.ids.kind, said)
    // A continuation still waits to be continued.
    const reason = live.ids.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const message = parts.length > 0 ? { parts, metadata: { ...reason, ...cited, ...model } } : null
    return { status: told.failure ? 'failed' : 'interrupted', finishReason: 'error', message }
  }
  const status = live.abortReason === null ? 'finished' : 'interrupted'
  const finishReason = live.abortReason === null ? told.finishReason : 'stop'
  if (live.count === 0) return { status, finishReason, message: null }
  const { outcome } = told
  const metadata: MessageMetadata = {
    score: told.found.confidence,
    outcome,
    ...cited,
    finishReason,
    ...model,
  }
  return { status, finishReason, message: { parts: said, metadata } }
}

const creditsOf = (live: LiveGeneration, { isPaid }: Said): number => (isPaid ? live.ids.credits : 0)

function silencedBy(live: LiveGeneration, status: 'taken_over' | 'ended', said: Said): LastWords {
  return silencedWords(live.ids, status, {
    hasBegun: live.count > 0,
    credits: creditsOf(live, said),
  })
}

function spokenBy(deps: Deps, job: Job, live: LiveGeneration, told: Told, said: Said): LastWords {
  const { finishReason, message } = said
  const hasBegun = live.count > 0
  if (!hasBegun && told.failure) return wordless(asApiError(told.failure.cause, job.model.provider))
  if (!hasBegun && live.abortReason === 'shutdown') return wordless(RESTARTING())
  return lastWords(live.ids, {
    hasBegun,
    credits: creditsOf(live, said),
    finishReason,
    failed: finishReason === 'error',
    score: message?.metadata.score,
    outcome: message?.metadata.outcome,
    sources: presentSourcesOf(deps)(
      { account_id: job.owner.accountId, agent_id: job.owner.agentId },
      message?.metadata.sources ?? [],
    ),
  })
}

/** Reports a failure as the provider's error only when it was. */
function asApiError(cause: unknown, provider: string): ApiError {
  if (cause instanceof ModelFailure)
    return new ApiError('CHAT_PROVIDER_ERROR', { details: { provider }, cause })
  if (isUnavailable(cause)) {
    return new ApiError('SERVICE_OVERLOADED', {
      message: 'The database is away for the moment. The message is stored: send the request again.',
      headers: { 'retry-after': '2' },
      cause,
    })
  }
  return cause instanceof ApiError ? cause : new ApiError('INTERNAL_SERVER_ERROR', { cause })
}

const RESTARTING = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The service is being restarted. What was said so far is kept in the conversation.',
    headers: { 'retry-after': '2' },
  })

const TAKEN = (): ApiError =>
  new ApiError('SERVICE_OVERLOADED', {
    message: 'The answer was interrupted. What was said of it is kept in the conversation.',
    headers: { 'retry-after': '2' },
  })

/** Tells the readers to reconnect after a moment, because this process ends and the answer is stored. */
function leave(live: LiveGeneration): void {
  const events =
    live.count > 0
      ? [{ type: 'data-reattach' as const, data: { afterMs: 1_000 }, transient: true as const }]
      : []
  live.endWith(events, RESTARTING())
}

/**
 * Stores the end before the client is told of it, with retries. If the database still refuses it after
 * LONGEST_HOLD_MS, or is being closed, the process that closes the generation from its log takes over.
 */
async function store(
  { db, log, process, generations }: Deps,
  job: Job,
  live: LiveGeneration,
  outcome: Outcome,
): Promise<Ending> {
  const own = { owner: process.id, epoch: live.ids.epoch, ownerAfter: process.id }
  const giveUpAt = Date.now() + LONGEST_HOLD_MS
  for (let attempt = 0; Date.now() < giveUpAt; attempt++) {
    try {
      return await finishGeneration(db, job.owner, live.ids, own, outcome)
    } catch (error) {
      if (attempt === 0)
        log.error({ err: error, generation: live.ids.id }, 'the end of a generation could not be stored yet')
      if (live.abortReason === 'lost' || generations.closed) return 'lost'
      await wait(Math.min(LONGEST_PAUSE_MS, 50 * 2 ** attempt))
    }
  }
  return 'lost'
}
