import type { Context } from '../../context.ts'
import type { AgentKnowledge } from '../../knowledge/index/update-index.ts'
import { rerankFound, SAME_QUESTION } from '../../knowledge/search/ranking/rerank-found.ts'
import { smallTalkOf } from '../../models/builtin/small-talk.ts'
import type { ResolvedModel } from '../../models/calls/model-call.ts'
import { textOf } from '../records/parts.ts'
import type { Found } from './generation-job.ts'
import type { Said } from './history.ts'
import { looksLikeFollowUp, rewriteQuestion } from './rewrite-question.ts'
import { searchInTalk } from './search-in-talk.ts'

const PASSAGES = 8
/** The number of passages that a reranking model puts in order. */
const RERANKED = 24
/** The most questions before the last one that may tell what it is about. */
const MOST_BEFORE = 3

type Turn = { model: ResolvedModel; question: string; transcript: Said[]; signal: AbortSignal }

/**
 * Returns the passages for the last question of a conversation. "And for children?" finds nothing by itself, so a
 * model rewrites it as a complete question; without one, a weak question is searched for again together with the one
 * before. A reranking model, if there is one, chooses among more passages.
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
  if (!reranker) return { ...found, about: asked }
  return rerankFound({ reranker, log }, asked, found, { limit: PASSAGES, signal: turn.signal })
}

type Searched = { asked: string; found: Found }

async function searchTurn(
  { search, log }: { search: (question: string) => Promise<Found> } & Pick<Context, 'log'>,
  agent: AgentKnowledge,
  { model, question, transcript, signal }: Turn,
): Promise<Searched> {
  const before = askedBefore(transcript)
  // An agent that never had a source has nothing to find.
  const isRewritten =
    before !== null &&
    agent.knowledgeVersion > 0 &&
    model.entry.provider !== 'builtin' &&
    looksLikeFollowUp(question)
  if (!isRewritten) return searchInTalk(search, question, before)
  const [found, whole] = await Promise.all([
    search(question),
    rewriteQuestion(log, model, transcript, signal),
  ])
  if (found.confidence >= SAME_QUESTION) return { asked: question, found }
  if (whole !== null) return { asked: whole, found: await search(whole) }
  return searchInTalk(search, question, before)
}

/**
 * Returns the user's question before the last one, together with those that it follows up on; null when there is
 * none.
 */
function askedBefore(transcript: readonly Said[]): string | null {
  const asked = transcript
    .filter(({ role }) => role === 'user')
    .slice(0, -1)
    .map(textOf)
    .filter((text) => smallTalkOf(text) === null)
    .slice(-MOST_BEFORE)
  const whole = asked.findLastIndex((text) => !looksLikeFollowUp(text))
  return asked.slice(Math.max(whole, 0)).join(' ') || null
}
