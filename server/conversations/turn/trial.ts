import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelEntry } from '../../models/catalogue/catalogue.ts'
import type { GenerationIds } from '../stream/live-generation.ts'
import type { Found } from './generation-job.ts'

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>

/** Watches an answer that a member of the team tries out. */
export type Trial = {
  noteFound(found: Found): void
  /** Yields the parts of a step, and has stored what the step was made of when it ends. */
  watch(
    model: ModelEntry,
    options: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
    ids: GenerationIds,
    parts: Parts,
  ): Parts
}
