import type { Logger } from 'pino'
import type { MessagePart } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { storableJson } from '../http/storable.ts'
import { citationsIn, citedSources } from './cite.ts'
import type { FinishReason } from './events.ts'
import { type Ending, finishGeneration, type Outcome } from './finish-generation.ts'
import type { Answer, LiveGeneration } from './live-generation.ts'
import { closingResults, keptOfBroken, textOf, unresolvedCalls } from './parts.ts'
import type { MessageMetadata } from './present.ts'
import type { Deps, Job, Told } from './run-generation.ts'
import { begin, type Call } from './speak-step.ts'
import { notOngoing } from './status.ts'
import type { StoredMessage } from './store-turn.ts'

const ERROR_TEXT = 'The answer could not be completed. Please try again.'

/** Stores what was said, then tells the readers how it ended. */
export async function endGeneration(
  { db, log }: Deps,
  job: Job,
  live: LiveGeneration,
  told: Told,
): Promise<void> {
  const completed = !told.failed && live.abortReason === null
  // An answer without a word (a filter, a tired model) is an answer, too.
  if (completed) begin(live)
  const spoke = live.frames.length > 0
  const outcome = outcomeOf(job, live, told, completed ? told.waiting : [])
  const credits = outcome.message ? live.ids.credits : 0
  const ending = await store(db, log, job, live, outcome)
  if (ending === 'taken_over' || ending === 'ended') return endSilenced(live, ending, credits)
  if (!spoke && told.failed) {
    live.fail(new ApiError('CHAT_PROVIDER_ERROR', { details: { provider: job.model.provider } }))
    return
  }
  const failed = told.failed || ending === 'lost'
  const finishReason = failed ? 'error' : outcome.finishReason
  closeStream(live, outcome.message ?? NOTHING, { finishReason, failed, credits })
}

const NOTHING: StoredMessage = { parts: [], metadata: {} }

function outcomeOf(job: Job, live: LiveGeneration, told: Told, waiting: Call[]): Outcome {
  const model = job.model.id
  const said = closeParts(live.parts, waiting)
  if (told.failed) {
    const parts = keptOfBroken(live.ids.kind, said)
    // A continuation still waits to be continued.
    const reason = live.ids.kind === 'continuation' ? {} : { finishReason: 'error' as const }
    const message = parts.length > 0 ? { parts, metadata: { ...reason, model } } : null
    return { status: 'failed', finishReason: 'error', message, waiting }
  }
  const status = live.abortReason === null ? 'finished' : 'interrupted'
  const finishReason = live.abortReason === null ? told.finishReason : 'stop'
  if (live.frames.length === 0) return { status, finishReason, message: null, waiting }
  const { passages, confidence } = told.found
  const sources = citedSources(passages, told.cited ?? citationsIn(textOf({ parts: said }), passages.length))
  const metadata: MessageMetadata = {
    score: confidence,
    ...(sources.length > 0 ? { sources } : {}),
    finishReason,
    model,
  }
  return { status, finishReason, message: { parts: said, metadata }, waiting }
}

/** The parts as they are stored: a call that nobody will answer any more has a result that says so. */
function closeParts(parts: readonly MessagePart[], waiting: Call[]): MessagePart[] {
  const clean = storableJson(parts) as MessagePart[]
  const ids = new Set(waiting.map(({ id }) => id))
  const dropped = unresolvedCalls(clean).filter(({ toolCallId }) => !ids.has(toolCallId))
  return [...clean, ...closingResults(dropped)]
}

/** A person has the conversation, or has ended it: nothing of this answer is kept, and nothing more of it is shown. */
function endSilenced(live: LiveGeneration, status: 'taken_over' | 'ended', credits: number): void {
  begin(live)
  live.emit({ type: 'data-handoff', data: { status } })
  live.emit({ type: 'finish-step' })
  live.emit({ type: 'finish', finishReason: 'stop', messageMetadata: finishMetadata(live, credits) })
  live.end(notOngoing(status))
}

type Closing = { finishReason: FinishReason; failed: boolean; credits: number }

function closeStream(
  live: LiveGeneration,
  { parts, metadata }: StoredMessage,
  { finishReason, failed, credits }: Closing,
): void {
  const { score, sources } = metadata
  begin(live)
  if (sources) live.emit({ type: 'data-sources', data: { sources } })
  if (failed) live.emit({ type: 'error', errorText: ERROR_TEXT })
  live.emit({ type: 'finish-step' })
  const messageMetadata = finishMetadata(live, credits)
  live.emit({ type: 'finish', finishReason, messageMetadata })
  const { messageId, ...shared } = messageMetadata
  const answer: Answer = {
    id: messageId,
    role: 'assistant',
    parts,
    metadata: {
      ...shared,
      finishReason,
      ...(score === undefined ? {} : { score }),
      ...(sources ? { sources } : {}),
    },
  }
  live.end(answer)
}

function finishMetadata({ ids }: LiveGeneration, credits: number) {
  const { messageId, userMessageId, conversationId, userId } = ids
  return { messageId, userMessageId, conversationId, userId, usage: { credits } }
}

const STORE_TRIES = 5

/**
 * Stores the end before the client hears of it. A database that is away for a moment is asked again; when it
 * stays away, the checkpoint is kept by whoever closes the generation after its lease.
 */
async function store(
  db: Deps['db'],
  log: Logger,
  job: Job,
  live: LiveGeneration,
  outcome: Outcome,
): Promise<Ending> {
  for (let attempt = 1; attempt <= STORE_TRIES; attempt++) {
    try {
      return await finishGeneration(db, job.owner, live.ids, outcome)
    } catch (error) {
      log.error(
        { err: error, generation: live.ids.id, attempt },
        'the end of a generation could not be stored',
      )
      if (attempt < STORE_TRIES) await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt))
    }
  }
  return 'lost'
}
