import { setTimeout as wait } from 'node:timers/promises'
import type { MessagePart } from '../db/tables.ts'
import { isUnavailable } from '../db/unavailable.ts'
import { ApiError } from '../http/errors.ts'
import { storableJson } from '../http/storable.ts'
import { ModelFailure } from '../models/model-failure.ts'
import { type LastWords, lastWords, silencedWords, wordless } from './ending-events.ts'
import { type Ending, finishGeneration, type Outcome } from './finish-generation.ts'
import type { Deps, Job, Told } from './generation-job.ts'
import { errorOf } from './generation-log.ts'
import type { LiveGeneration } from './live-generation.ts'
import { closingResults, keptOfBroken, unresolvedCalls } from './parts.ts'
import type { MessageMetadata } from './present.ts'
import { presentSourcesOf } from './source-address.ts'
import { begin } from './speak-step.ts'
import type { Call } from './tool-calls.ts'

/** How long a finished answer is kept in memory for a database that is away. */
const LONGEST_HOLD_MS = 10 * 60_000
const LONGEST_PAUSE_MS = 1_000

/** Stores what was said, then tells the readers how it ended. */
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

/** A call that nobody will answer any more has a result that says so. */
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

/** Whoever stops an answer before its first word has used the provider all the same. */
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

/** Only what the provider did is its error. */
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

/** The process ends, and what was said is stored: readers find it after a moment. */
function leave(live: LiveGeneration): void {
  const events =
    live.count > 0
      ? [{ type: 'data-reattach' as const, data: { afterMs: 1_000 }, transient: true as const }]
      : []
  live.endWith(events, RESTARTING())
}

/**
 * Stores the end before the client hears of it. A database that is away gets it when it is back; an end that the
 * database refuses is tried a few times, and then left to whoever closes the generation from its log.
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
