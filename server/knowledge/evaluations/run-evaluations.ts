import { setImmediate } from 'node:timers/promises'
import type { Static } from 'typebox'
import type { Db } from '../../db/database.ts'
import { ANSWER_FROM } from '../../models/builtin/compose-answer.ts'
import type { Knowledge } from '../index/knowledge.ts'
import type { AgentKnowledge } from '../index/update-index.ts'
import type { Passage } from '../search/passage.ts'
import { answerFinder } from './holds-answer.ts'
import { allEvaluations, type EvaluationRow } from './queries.ts'
import type { EvaluationRun } from './schema.ts'

const PLACES = 10
const SHOWN = 3

type Run = Static<typeof EvaluationRun>
type Result = Run['results'][number]

/** Searches every evaluation question of an agent or of one of its sets, as a chat would, and counts the results. */
export async function runEvaluations(
  { db, knowledge }: { db: Db; knowledge: Pick<Knowledge, 'search'> },
  agent: AgentKnowledge,
  setId: string | null = null,
): Promise<Run> {
  const results: Result[] = []
  for (const row of await allEvaluations(db, { accountId: agent.accountId, agentId: agent.id }, setId)) {
    const { passages, confidence } = await knowledge.search(agent, row.question, { limit: PLACES })
    const place = passages.findIndex(expectationOf(row)) + 1
    results.push({
      ...shown(row),
      place: place > 0 ? place : null,
      score: confidence,
      isAnswered: confidence >= ANSWER_FROM,
      sources: passages
        .slice(0, SHOWN)
        .map(({ sourceId, sourceName, url }) => ({ id: sourceId, name: sourceName, url })),
    })
    // Five hundred searches in a row would block other requests, so this yields in between.
    await setImmediate()
  }
  return { ...figuresOf(results), results }
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
