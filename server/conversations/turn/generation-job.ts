import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider'
import type { Toolkit } from '../../actions/tools/tool.ts'
import type { Context } from '../../context.ts'
import type { Passage } from '../../knowledge/search/passage.ts'
import type { AnswerOutcome } from '../records/schema.ts'
import type { Call, Owner } from '../records/tool-calls.ts'
import type { FinishReason } from '../stream/events.ts'
import type { Citations } from './citations.ts'
import type { StoredSource } from './cite.ts'

/** What the search has found. `about` is what was searched for when the question follows up on another one. */
export type Found = { passages: Passage[]; confidence: number; about?: string }

export type Job = {
  owner: Owner
  /** The most answers of the account that may be generated at once. */
  atOnce: number
  model: { id: string; provider: string }
  /** The citations of the message that this generation continues. */
  citedBefore: readonly StoredSource[]
  /** Searches for the passages of the reply, and prepares its tools and its prompt. */
  prepare(signal: AbortSignal): Promise<{ found: Found; toolkit: Toolkit; prompt: LanguageModelV4Prompt }>
  /** Calls the model. Each array holds the parts that came in one read of the network. Throws ModelFailure. */
  answer(
    options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools' | 'toolChoice'>,
    found: Found,
    signal: AbortSignal,
  ): AsyncIterable<LanguageModelV4StreamPart[]>
}

/** The result of a reply's steps, whether they finished or broke off. */
export type Told = {
  found: Found
  finishReason: FinishReason
  outcome: AnswerOutcome | null
  citations: Citations
  /** Tool calls that the application has to run. */
  waiting: Call[]
  /** Why the reply failed; null when it did not. */
  failure: { cause: unknown } | null
}

export type Deps = Pick<Context, 'db' | 'log' | 'generations' | 'process' | 'secrets' | 'config'>
