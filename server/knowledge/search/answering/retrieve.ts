import type { Logger } from 'pino'
import type { ResolvedModel } from '../../../ai/calls/model-call.ts'
import { sumOfUses } from '../../../ai/embeddings/embedding-use.ts'
import type { Models } from '../../../ai/models.ts'
import { guessLanguage } from '../../../platform/text/languages/language.ts'
import { splitWords } from '../../../platform/text/words/words.ts'
import { type AgentKnowledge, type Knowledge, NOTHING_FOUND, type SearchResult } from '../knowledge.ts'
import { RERANKED, rerankFound } from '../rerank.ts'
import { type TalkMessage, type Understood, understand } from './understand.ts'

export type { TalkMessage } from './understand.ts'

const PASSAGES = 8
/** The most messages that are searched together, and of those before them that tell what they are about. */
const MAX_TOGETHER = 5
const MAX_EARLIER_CHARACTERS = 500
/** A message of up to this many words more often than not depends on the messages before it. */
const FEW_WORDS = 4

/** A search by words that holds this share of the question, by weight, finds what is asked for without help. */
const STRONG = 2 / 3
/** How much the place of a passage for the customer's own words counts, beside 1 for each query of a model. */
const OWN_WEIGHT = 2

/**
 * What was found. `question` is null for a message without words, and `about` is what else was searched for. Small talk,
 * for which no passages are given, has a question, but nothing was asked.
 */
export type Retrieved = SearchResult & {
  question: string | null
  about: string | null
  isSmallTalk?: true
}

type Deps = {
  knowledge: Pick<Knowledge, 'search' | 'languages'>
  models: Pick<Models, 'reranker' | 'small'>
  log: Logger
}
type Asking = { model: ResolvedModel; talk: readonly TalkMessage[]; signal: AbortSignal }

/**
 * Returns the passages for the last question of a conversation, whose messages are `talk`, oldest first. Where the
 * catalogue wants it, a model reads a question that its own words may not answer, and its queries are searched for as
 * well. "And for children?" finds little by itself, so without such queries it is searched for again together with the
 * question before it.
 */
export async function retrieve(deps: Deps, agent: AgentKnowledge, asking: Asking): Promise<Retrieved> {
  const { knowledge, models, log } = deps
  const { reranker } = models
  const { model, talk, signal } = asking
  const { question, earlier } = askedIn(talk)
  const words = splitWords(question)
  if (words.length === 0) return { ...NOTHING_FOUND, question: null, about: null }
  const search = (queries: string[], ownWeight = 1): Promise<SearchResult> =>
    knowledge.search(agent, queries, { limit: reranker ? RERANKED : PASSAGES, ownWeight })
  const [alone, understood] = await Promise.all([
    search([question]),
    readBeside(deps, agent, asking, { question, isFollowUp: earlier !== '' }),
  ])
  if (understood?.kind === 'small_talk' && !alone.isFound)
    return { ...alone, passages: [], question, about: null, isSmallTalk: true }
  const queries = understood?.queries ?? []
  const isShort = words.length <= FEW_WORDS
  // A model tells a "thanks" from a "why"; without one, neither is about what was asked before.
  const mayGoOn = !isShort || alone.hasKnownWord || model.entry.provider !== 'builtin'
  // Nothing is found in an agent that never had a source, whatever the question.
  const goesOn = earlier !== '' && agent.knowledgeVersion > 0 && mayGoOn && (isShort || !alone.isFound)
  const whole = goesOn && queries.length === 0 ? `${earlier} ${question}` : null
  const found =
    queries.length > 0
      ? both(alone, await search([question, ...queries], OWN_WEIGHT))
      : whole === null
        ? alone
        : both(alone, await search([question, whole]))
  const about = whole ?? (queries.join('; ') || null)
  if (!reranker) return { ...found, passages: found.passages.slice(0, PASSAGES), question, about }
  const reranked = await rerankFound({ reranker, log }, whole ?? question, found, {
    limit: PASSAGES,
    signal,
  })
  return { ...reranked, question, about }
}

/**
 * Lets a model read the question, beside the search by vectors, where that may help: the words of a message that follows
 * others, or is in another language than the documents, are not all that it asks for, and other words may find more than
 * those that found little.
 */
async function readBeside(
  { knowledge, models, log }: Deps,
  agent: AgentKnowledge,
  { model, talk, signal }: Asking,
  { question, isFollowUp }: { question: string; isFollowUp: boolean },
): Promise<Understood | null> {
  const small = models.small(model)
  const { understandingMs: ms } = small.entry
  if (ms === null || model.entry.provider === 'builtin' || agent.knowledgeVersion === 0) return null
  const [byWords, documents] = await Promise.all([
    knowledge.search(agent, [question], { limit: 1, byWordsAlone: true }),
    knowledge.languages(agent),
  ])
  const isExact = byWords.passages[0]?.isFirst === true
  const language = guessLanguage(question)
  const isForeign = language !== 'other' && documents.length > 0 && !documents.includes(language)
  const pays = !isExact && (isFollowUp || isForeign || byWords.confidence < STRONG)
  return pays ? understand(log, small, { talk, documents, ms }, signal) : null
}

/** Returns the second of two searches with what both together have sent to the embedding model. */
const both = ({ embeddingUse: first }: SearchResult, second: SearchResult): SearchResult => {
  const uses = [first, second.embeddingUse].filter((use) => use !== null)
  return { ...second, embeddingUse: uses.length > 0 ? sumOfUses(uses) : null }
}

/** Returns the customer's messages since the agent's last one, and their messages before that. */
export function askedIn(talk: readonly TalkMessage[]): { question: string; earlier: string } {
  const from = talk.findLastIndex(({ role }) => role === 'assistant') + 1
  const before = talk.slice(0, from)
  const asked = before.slice(0, before.findLastIndex(({ role }) => role === 'user') + 1)
  const since = asked.findLastIndex(({ role }) => role === 'assistant') + 1
  const textOf = (said: readonly TalkMessage[]): string =>
    said
      .slice(-MAX_TOGETHER)
      .map(({ text }) => text)
      .join('\n')
      .trim()
  return {
    question: textOf(talk.slice(from)),
    earlier: textOf(asked.slice(since)).slice(0, MAX_EARLIER_CHARACTERS).toWellFormed(),
  }
}
