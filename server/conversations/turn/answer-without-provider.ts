import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { lowerReservation } from '../../accounts/plans/credits.ts'
import type { Context } from '../../context.ts'
import { transact } from '../../db/statements/transact.ts'
import type { ModelEntry } from '../../models/catalogue/catalogue.ts'
import { ModelFailure } from '../../models/failures/model-failure.ts'
import type { Owner } from '../records/tool-calls.ts'
import type { LiveGeneration } from '../stream/live-generation.ts'

type Parts = AsyncIterable<LanguageModelV4StreamPart[]>

/** The types of stream parts from which on a part of the answer has been shown. */
const SHOWN: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set([
  'text-delta',
  'tool-input-start',
  'tool-call',
  'finish',
])

/**
 * Yields what a provider streams or, if it fails before any of the answer could be shown, what `instead` streams.
 * Parts that show nothing are held back until the first that does, because only then it is certain that nothing will
 * be replaced.
 */
export async function* withFallback(
  own: Parts,
  instead: (failure: ModelFailure) => Promise<Parts>,
): AsyncGenerator<LanguageModelV4StreamPart[]> {
  const held: LanguageModelV4StreamPart[] = []
  let isShown = false
  try {
    for await (const parts of own) {
      if (!isShown && !parts.some(({ type }) => SHOWN.has(type))) {
        held.push(...parts)
        continue
      }
      yield isShown ? parts : [...held, ...parts]
      isShown = true
    }
    if (!isShown && held.length > 0) yield held
    return
  } catch (error) {
    if (isShown || !(error instanceof ModelFailure) || error.kind === 'aborted') throw error
    own = await instead(error)
  }
  yield* own
}

/** Assigns the generation to the built-in responder, at its price if that is lower than what was reserved. */
export async function takeOver(
  { db }: Pick<Context, 'db'>,
  { accountId }: Owner,
  live: LiveGeneration,
  builtin: ModelEntry,
): Promise<void> {
  const { ids } = live
  const credits = Math.min(ids.credits, builtin.credits)
  await transact(db, async (trx) => {
    await trx
      .updateTable('generations')
      .set({ model: builtin.id, credits })
      .where('account_id', '=', accountId)
      .where('id', '=', ids.id)
      .where('status', '=', 'running')
      .execute()
    await lowerReservation(trx, accountId, ids.id, credits)
  })
  ids.credits = credits
  ids.standIn = builtin.id
}
