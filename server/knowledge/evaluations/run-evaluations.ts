import { setImmediate } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Static } from 'typebox'
import type { Models } from '../../ai/models.ts'
import type { Db } from '../../platform/db/database.ts'
import { RERANKED, rerankFound } from '../search/answering/retrieve.ts'
import type { AgentKnowledge, Knowledge } from '../search/knowledge.ts'
import type { Passage, SearchResult } from '../search/search-result.ts'
import { answerFinder } from './holds-answer.ts'
import { allEvaluations, type EvaluationRow } from './queries.ts'
import type { EvaluationRun } from './schema.ts'

const PLACES = 10
const SHOWN = 3
/** The most milliseconds that one question waits for a reranking model, whose own time limit is shorter. */
const MAX_MS = 30_000

type Run = Static<typeof EvaluationRun>
type Result = Run['results'][number]

type Deps = {
  db: Db
  knowledge: Pick<Knowledge, 'search'>
  models: Pick<Models, 'reranker'>
  log: Pick<Logger, 'warn'>
}

/** Searches every evaluation question of an agent or of one of its sets, as a chat would, and counts the results. */
export async function runEvaluations(
  needs: Deps,
  agent: AgentKnowledge,
  setId: string | null = null,
): Promise<Run> {
  const results: Result[] = []
  const search = searchAsChat(needs, agent)
  for (const row of await allEvaluations(
    needs.db,
    { accountId: agent.accountId, agentId: agent.id },
    setId,
  )) {
    const { passages, confidence, isFound } = await search(row.question)
    const place = passages.findIndex(expectationOf(row)) + 1
    results.push({
      ...shown(row),
      place: place > 0 ? place : null,
      score: confidence,
      isAnswered: isFound,
      sources: passages
        .slice(0, SHOWN)
        .map(({ sourceId, sourceName, url }) => ({ id: sourceId, name: sourceName, url })),
    })
    // Five hundred searches in a row would block other requests, so this yields in between.
    await setImmediate()
  }
  return { ...figuresOf(results), results }
}

/**
 * Returns the search of a chat. A reranking model that has failed once is not asked again, because each of hundreds of
 * questions would wait for it.
 */
function searchAsChat(
  { knowledge, models, log }: Deps,
  agent: AgentKnowledge,
): (question: string) => Promise<SearchResult> {
  const { reranker: model } = models
  let reranker: typeof model = model && {
    judge: (...asked) =>
      model.judge(...asked).catch((error: unknown) => {
        reranker = null
        throw error
      }),
  }
  return async (question) => {
    const found = await knowledge.search(agent, [question], { limit: RERANKED })
    const options = { limit: PLACES, signal: AbortSignal.timeout(MAX_MS) }
    return reranker
      ? rerankFound({ reranker, log }, question, found, options)
      : { ...found, passages: found.passages.slice(0, PLACES) }
  }
}

/** A source and an answer are two ways to define the expectation, so either match counts. */
function expectationOf(row: EvaluationRow): (passage: Passage) => boolean {
  const holds = row.expected_answer === null ? () => false : answerFinder(row.expected_answer)
  return ({ sourceId, headingPath, text }) =>
    sourceId === row.expected_source_id || holds([...headingPath, text].join(' '))
}

export const shown = (
  row: EvaluationRow,
): Pick<Result, 'id' | 'question' | 'expectedSourceId' | 'expectedAnswer'> => ({
  id: row.id,
  question: row.question,
  expectedSourceId: row.expected_source_id,
  expectedAnswer: row.expected_answer,
})

function figuresOf(results: readonly Result[]): Omit<Run, 'results'> {
  const isAnswerable = (result: Result): boolean =>
    result.expectedSourceId !== null || result.expectedAnswer !== null
  const answerable = results.filter(isAnswerable)
  const unanswerable = results.filter((result) => !isAnswerable(result))
  const recall = (k: number): number | null => share(answerable, ({ place }) => place !== null && place <= k)
  const ranks = answerable.reduce((sum, { place }) => sum + (place === null ? 0 : 1 / place), 0)
  return {
    questions: results.length,
    answerable: answerable.length,
    unanswerable: unanswerable.length,
    recallAt1: recall(1),
    recallAt3: recall(3),
    recallAt5: recall(5),
    mrr: answerable.length > 0 ? ranks / answerable.length : null,
    answered: share(answerable, ({ isAnswered }) => isAnswered),
    declined: share(unanswerable, ({ isAnswered }) => !isAnswered),
  }
}

function share(results: readonly Result[], fits: (result: Result) => boolean): number | null {
  return results.length > 0 ? results.filter(fits).length / results.length : null
}
