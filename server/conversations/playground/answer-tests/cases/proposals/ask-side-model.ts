import type { JSONSchema7 } from '@ai-sdk/provider'
import { askForAccount, jsonAnswer } from '../../../../../ai/calls/call-model.ts'
import type { ResolvedModel } from '../../../../../ai/calls/model-call.ts'
import { ModelFailure, whatHappened } from '../../../../../ai/failures/model-failure.ts'
import type { Models } from '../../../../../ai/models.ts'
import type { AgentRef } from '../../../../../platform/db/refs.ts'
import { storableJson } from '../../../../../platform/http/bodies/storable.ts'
import { ApiError } from '../../../../../platform/http/errors.ts'
import type { RateLimiter, RateWindow } from '../../../../../platform/http/limits/rate-limit.ts'
import { tooMany } from '../../../../../platform/http/server/gate.ts'
import { recordOf } from '../../../../../platform/unknown-values.ts'

/** The most calls an hour for an account, since they cost no credits. */
const CALLS: RateWindow = { limit: 300, windowMs: 3_600_000 }
/** A model on a small machine may take as long. */
const TIMEOUT_MS = 120_000

/** Returns the model that proposes for an agent whose own model is `own`; null if there is no language model. */
export function proposingModel(
  { resolve, small }: Pick<Models, 'resolve' | 'small'>,
  own: string,
): ResolvedModel | null {
  const model = resolve(own) ?? resolve('auto')
  return model && model.entry.provider !== 'builtin' ? small(model) : null
}

type Ask = { system: string; input: unknown; schema: JSONSchema7; maxOutputTokens: number; longest: number }

/**
 * Returns the object that a model answers with; null if it answered with anything else. Throws CHAT_PROVIDER_ERROR, and
 * RATE_LIMIT_TOO_MANY_REQUESTS for too many calls.
 */
export async function askForObject(
  { models, limiter }: { models: Pick<Models, 'asking' | 'noteCall'>; limiter: Pick<RateLimiter, 'take'> },
  { accountId, agentId }: AgentRef,
  model: ResolvedModel,
  { system, input, ...ask }: Ask,
): Promise<Record<string, unknown> | null> {
  const decision = await limiter.take(`proposals of ${accountId}`, CALLS)
  if (!decision.allowed)
    throw tooMany(
      decision,
      'Models have proposed as much as they may in an hour. Wait as long as Retry-After says.',
    )
  // JSON within JSON, so that no text can escape from the data.
  const asked = { system, user: JSON.stringify(input), ...ask }
  try {
    const asker = { accountId, agentId, purpose: 'tests' as const }
    const said = await askForAccount(models, asker, model, asked, AbortSignal.timeout(TIMEOUT_MS))
    const answer = said === null ? null : jsonAnswer(said)
    return answer && recordOf(storableJson(answer))
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error
    throw new ApiError('CHAT_PROVIDER_ERROR', { message: whatHappened(error), cause: error })
  }
}
