import type { Context } from '../context.ts'
import type { AgentKnowledge } from '../knowledge/knowledge.ts'
import { rerankFound, SAME_QUESTION } from '../knowledge/retrieval/rerank-found.ts'
import type { ResolvedModel } from '../models/models.ts'
import type { Said } from './history.ts'
import { textOf } from './parts.ts'
import { looksLikeFollowUp, rewriteQuestion } from './rewrite-question.ts'
import type { Found } from './run-generation.ts'

const PASSAGES = 8
/** Found passages that a reranking model puts in order. */
const RERANKED = 24
/** Below this a question is likely a fragment of the talk before: it is searched together with what it follows. */
const SURE = 0.5

type Turn = { model: ResolvedModel; question: string; transcript: Said[]; signal: AbortSignal }

/**
 * The passages for the last question of a talk. "And for children?" finds nothing by itself: a model makes it a whole
 * question; without one, a weak question is searched again with the one before. A reranking model, when there is one,
 * chooses among more of them.
 */
export async function retrieve(
  { knowledge, models, log }: Pick<Context, 'knowledge' | 'models' | 'log'>,
  agent: AgentKnowledge,
  turn: Turn,
): Promise<Found> {
  const { reranker } = models
  const search = (question: string): Promise<Found> =>
    knowledge.search(agent, question, { limit: reranker ? RERANKED : PASSAGES })
  const { asked, found } = await searchTurn({ search, log }, agent, turn)
  if (!reranker) return found
  return rerankFound({ reranker, log }, asked, found, { limit: PASSAGES, signal: turn.signal })
}

type Searched = { asked: string; found: Found }

async function searchTurn(
  { search, log }: { search: (question: string) => Promise<Found> } & Pick<Context, 'log'>,
  agent: AgentKnowledge,
  { model, question, transcript, signal }: Turn,
): Promise<Searched> {
  const before = transcript.filter(({ role }) => role === 'user').at(-2)
  // An agent that never had a source has nothing to be found.
  const isRewritten =
    before !== undefined &&
    agent.knowledgeVersion > 0 &&
    model.entry.provider !== 'builtin' &&
    looksLikeFollowUp(question)
  const [found, whole] = await Promise.all([
    search(question),
    isRewritten ? rewriteQuestion(log, model, transcript, signal) : null,
  ])
  const plain = { asked: question, found }
  if (found.confidence >= SAME_QUESTION || before === undefined) return plain
  if (whole !== null) return { asked: whole, found: await search(whole) }
  if (found.confidence >= SURE) return plain
  const both = `${textOf(before).slice(0, 500)} ${question}`
  const together = await search(both)
  return together.confidence > found.confidence ? { asked: both, found: together } : plain
}
