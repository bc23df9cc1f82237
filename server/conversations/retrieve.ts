import type { Context } from '../context.ts'
import type { AgentKnowledge } from '../knowledge/knowledge.ts'
import type { ResolvedModel } from '../models/models.ts'
import type { Said } from './history.ts'
import { textOf } from './parts.ts'
import { looksLikeFollowUp, rewriteQuestion } from './rewrite-question.ts'
import type { Found } from './run-generation.ts'

const PASSAGES = 8
/** Below this a question is likely a fragment of the talk before: it is searched together with what it follows. */
const SURE = 0.5
/** Only a stored question that is the same scores so: nothing fits better. */
const SAME_QUESTION = 1

type Turn = { model: ResolvedModel; question: string; transcript: Said[]; signal: AbortSignal }

/**
 * The passages for the last question of a talk. "And for children?" finds nothing by itself: a model makes it a whole
 * question; without one, a weak question is searched again with the one before.
 */
export async function retrieve(
  { knowledge, log }: Pick<Context, 'knowledge' | 'log'>,
  agent: AgentKnowledge,
  { model, question, transcript, signal }: Turn,
): Promise<Found> {
  const before = transcript.filter(({ role }) => role === 'user').at(-2)
  // An agent that never had a source has nothing to be found.
  const isRewritten =
    before !== undefined &&
    agent.knowledgeVersion > 0 &&
    model.entry.provider !== 'builtin' &&
    looksLikeFollowUp(question)
  const [found, whole] = await Promise.all([
    knowledge.search(agent, question, { limit: PASSAGES }),
    isRewritten ? rewriteQuestion(log, model, transcript, signal) : null,
  ])
  if (found.confidence >= SAME_QUESTION || before === undefined) return found
  if (whole !== null) return knowledge.search(agent, whole, { limit: PASSAGES })
  if (found.confidence >= SURE) return found
  const together = await knowledge.search(agent, `${textOf(before).slice(0, 500)} ${question}`, {
    limit: PASSAGES,
  })
  return together.confidence > found.confidence ? together : found
}
