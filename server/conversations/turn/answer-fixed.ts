import { fixedAnswer } from '../../knowledge/search/answering/fixed-answer.ts'
import { askedIn } from '../../knowledge/search/answering/retrieve.ts'
import { NOTHING_FOUND } from '../../knowledge/search/knowledge.ts'
import { acceptsOffer } from '../records/accept-offer.ts'
import type { LiveGeneration } from '../stream/reading.ts'
import { assign } from './ask-model.ts'
import { askedMessages, talkOf } from './prepare.ts'
import { notRead, picturesOf } from './prompt/images.ts'
import type { Prepared, Turn, TurnNeeds } from './turn.ts'

/**
 * Gives the turn to the built-in responder, at its price, if the owner has fixed the answer to what is asked, and returns
 * what it quotes; null if there is no such answer.
 */
export async function prepareFixed(
  ctx: TurnNeeds,
  turn: Turn,
  live: LiveGeneration,
): Promise<Prepared | null> {
  const { request, started, owner, record } = turn
  const builtin = ctx.models.resolve('builtin')
  // The results of an action are told by the model that called it.
  if (!builtin || request.ask.kind === 'continue') return null
  if (request.acceptsOffer || acceptsOffer(started.transcript)) return null
  // A picture may ask something else than the words beside it.
  if (notRead(picturesOf(askedMessages(started.transcript))).all > 0) return null
  const { question } = askedIn(talkOf(started.transcript))
  const passage = await fixedAnswer(ctx.db, owner, question)
  if (!passage) return null
  if (turn.model.entry.provider !== 'builtin') {
    await assign(ctx, turn, live, builtin.entry)
    turn.model = builtin
  }
  const found = {
    ...NOTHING_FOUND,
    passages: [passage],
    confidence: 1,
    isFound: true,
    hasKnownWord: true,
    question,
    about: null,
  }
  record?.noteFound(found)
  return {
    found,
    score: 1,
    toolkit: { tools: [], procedures: null, running: null },
    // Nothing is asked that a provider could cache.
    cacheKey: 'none',
    promptFor: () => [{ role: 'user', content: [{ type: 'text', text: question }] }],
    hasUnseen: () => false,
    mustCall: null,
    escalate: null,
    said: {
      language: 'en',
      areEmpty: false,
      mayOffer: false,
      handover: null,
    },
  }
}
