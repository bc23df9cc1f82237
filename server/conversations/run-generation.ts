import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { Logger } from 'pino'
import type { Db } from '../db/database.ts'
import type { AccountId, MessagePart } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import { storable } from '../http/storable.ts'
import type { Passage } from '../knowledge/retrieval/passage.ts'
import { citationsIn, citedSources } from './cite.ts'
import type { FinishReason } from './events.ts'
import { finishGeneration, type Outcome } from './finish-generation.ts'
import type { Answer, LiveGeneration } from './live-generation.ts'
import type { MessageMetadata } from './present.ts'

export type Job = {
  owner: { accountId: AccountId; agentId: string }
  model: { id: string; provider: string }
  /** Finds the passages for the question. */
  retrieve(): Promise<{ passages: Passage[]; confidence: number }>
  /** Calls the model with them. Throws ModelFailure. */
  answer(
    found: { passages: Passage[]; confidence: number },
    signal: AbortSignal,
  ): AsyncIterable<LanguageModelV4StreamPart>
}

type Deps = { db: Db; log: Logger }

const ERROR_TEXT = 'The answer could not be completed. Please try again.'

/**
 * Makes the reply and stores it, whoever listens. Never throws: what goes wrong before the first event fails
 * the generation, later it ends the stream with `error` and `finish` and keeps the text.
 */
export async function runGeneration({ db, log }: Deps, job: Job, live: LiveGeneration): Promise<void> {
  const told: Told = { parts: [], textOpen: false, finishReason: 'error', cited: null }
  let passages: Passage[] = []
  let confidence = 0
  let failed = false
  try {
    const found = await job.retrieve()
    passages = found.passages
    confidence = found.confidence
    for await (const part of job.answer(found, live.signal)) tell(part, told, live)
  } catch (error) {
    failed = !live.signal.aborted
    if (failed) log.warn({ err: error, generation: live.ids.id, model: job.model.id }, 'generation failed')
  }
  if (live.frames.length === 0 && (failed || live.signal.aborted)) {
    await store(db, log, job, live, { status: 'failed', message: null })
    live.fail(new ApiError('CHAT_PROVIDER_ERROR', { details: { provider: job.model.provider } }))
    return
  }
  begin(live)
  closeText(told, live)
  const cited = told.cited ?? citationsIn(live.text, passages.length)
  const sources = citedSources(passages, cited)
  const finishReason: FinishReason = failed ? 'error' : live.signal.aborted ? 'stop' : told.finishReason
  const { credits } = live.ids
  const metadata: MessageMetadata = { score: confidence, sources, credits, finishReason, model: job.model.id }
  const parts = told.parts.map(clean)
  const status = failed ? 'failed' : live.signal.aborted ? 'interrupted' : 'finished'
  await store(db, log, job, live, { status, message: { parts, metadata } })
  closeStream(live, { parts, sources, finishReason, failed, score: confidence })
}

/** What the model has said: whole parts, why it stopped, and which passages (indexes) it says it used. */
type Told = {
  parts: MessagePart[]
  textOpen: boolean
  finishReason: FinishReason
  cited: number[] | null
}

function tell(part: LanguageModelV4StreamPart, told: Told, live: LiveGeneration): void {
  switch (part.type) {
    case 'text-start':
      begin(live)
      told.parts.push({ type: 'text', text: '' })
      told.textOpen = true
      live.emit({ type: 'text-start', id: `text-${told.parts.length}` })
      break
    case 'text-delta': {
      if (part.delta === '') break
      const last = told.parts.at(-1)
      if (last?.type === 'text') last.text += part.delta
      live.text += part.delta
      live.emit({ type: 'text-delta', id: `text-${told.parts.length}`, delta: part.delta })
      break
    }
    case 'text-end':
      closeText(told, live)
      break
    case 'finish':
      told.finishReason = part.finishReason.unified === 'interrupted' ? 'other' : part.finishReason.unified
      told.cited = (part.providerMetadata?.parley?.cited as number[] | undefined) ?? null
      break
    default:
    // Reasoning, files and the like are not shown.
  }
}

function closeText(told: Told, live: LiveGeneration): void {
  if (told.textOpen) live.emit({ type: 'text-end', id: `text-${told.parts.length}` })
  told.textOpen = false
}

function begin(live: LiveGeneration): void {
  if (live.frames.length > 0) return
  live.emit({ type: 'start', messageId: live.ids.messageId })
  live.emit({ type: 'start-step' })
}

type Ending = Pick<Answer['metadata'], 'finishReason'> & {
  parts: MessagePart[]
  sources: NonNullable<Answer['metadata']['sources']>
  failed: boolean
  score: number
}

function closeStream(live: LiveGeneration, { parts, sources, finishReason, failed, score }: Ending): void {
  const { messageId, userMessageId, conversationId, userId, credits } = live.ids
  const shared = { userMessageId, conversationId, userId, usage: { credits } }
  if (sources.length > 0) live.emit({ type: 'data-sources', data: { sources } })
  if (failed) live.emit({ type: 'error', errorText: ERROR_TEXT })
  live.emit({ type: 'finish-step' })
  live.emit({ type: 'finish', finishReason, messageMetadata: { messageId, ...shared } })
  live.end({
    id: messageId,
    role: 'assistant',
    parts,
    metadata: { ...shared, finishReason, score, ...(sources.length > 0 ? { sources } : {}) },
  })
}

const clean = (part: MessagePart): MessagePart =>
  part.type === 'text' ? { ...part, text: storable(part.text) } : part

const STORE_TRIES = 5

/**
 * Stores the end before the client hears of it. A database that is away for a moment is asked again; when it
 * stays away, the checkpoint's text is kept by whoever closes the generation after its lease.
 */
async function store(db: Db, log: Logger, job: Job, live: LiveGeneration, outcome: Outcome): Promise<void> {
  for (let attempt = 1; attempt <= STORE_TRIES; attempt++) {
    try {
      await finishGeneration(db, job.owner, live.ids, outcome)
      return
    } catch (error) {
      log.error(
        { err: error, generation: live.ids.id, attempt },
        'the end of a generation could not be stored',
      )
      if (attempt < STORE_TRIES) await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt))
    }
  }
}
