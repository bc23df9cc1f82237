import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { Toolkit } from '../actions/tool.ts'
import type { Context } from '../context.ts'
import type { Passage } from '../knowledge/retrieval/passage.ts'
import type { Citations } from './citations.ts'
import type { StoredSource } from './cite.ts'
import type { FinishReason } from './events.ts'
import type { AnswerOutcome } from './schema.ts'
import type { Call, Owner } from './tool-calls.ts'

/** `about`: what was searched for, when the question goes on from another one. */
export type Found = { passages: Passage[]; confidence: number; about?: string }

export type Job = {
  owner: Owner
  /** Answers that the account may have made at once. */
  atOnce: number
  model: { id: string; provider: string }
  /** What the message cites that this goes on with. */
  citedBefore: readonly StoredSource[]
  /** Finds what the reply stands on. */
  prepare(signal: AbortSignal): Promise<{ found: Found; toolkit: Toolkit; prompt: LanguageModelV4Prompt }>
  /** Calls the model: what one read of the network brought comes in one array. Throws ModelFailure. */
  answer(
    options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'>,
    found: Found,
    signal: AbortSignal,
  ): AsyncIterable<LanguageModelV4StreamPart[]>
}

/** What has been said when the steps are over, or broke off. */
export type Told = {
  found: Found
  finishReason: FinishReason
  outcome: AnswerOutcome | null
  citations: Citations
  /** Calls that the application has to run. */
  waiting: Call[]
  /** Why it broke off by itself; null when it did not. */
  failure: { cause: unknown } | null
}

export type Deps = Pick<Context, 'db' | 'log' | 'generations' | 'process' | 'secrets' | 'config'>
