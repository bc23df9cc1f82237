import type { OutputOf } from '../app/api.ts'

export type Run = OutputOf<'GET', '/agents/{agentId}/evaluation-runs/{runId}'>
export type ListedRun = OutputOf<'GET', '/agents/{agentId}/evaluation-runs'>['data'][number]
export type Result = Run['results'][number]

/** The number of passages that a model is given. */
const GIVEN = 8

export type Verdict = { isGood: boolean; words: string }

/** Describes the result of a question. */
export function verdictOf({ expectedSourceId, expectedAnswer, place, isAnswered }: Result): Verdict {
  if (expectedSourceId === null && expectedAnswer === null) {
    return isAnswered
      ? { isGood: false, words: 'Would be answered, and should be declined' }
      : { isGood: true, words: 'Declined, as it should be' }
  }
  if (place === null) return { isGood: false, words: 'Not found' }
  if (place > GIVEN) return { isGood: false, words: `Too far down: place ${place}` }
  if (!isAnswered) return { isGood: false, words: `At place ${place}, but judged too unlikely` }
  return { isGood: true, words: `Found at place ${place}` }
}

type Difference = { id: string; question: string; before: Verdict | null; after: Verdict | null }

/** Returns the questions whose results differ between two runs, or that only one of them has. */
export function differencesOf(before: Run, after: Run): Difference[] {
  const earlier = new Map(before.results.map((result) => [result.id, result]))
  const later = new Set(after.results.map(({ id }) => id))
  const changed = after.results.flatMap((result) => {
    const known = earlier.get(result.id)
    const was = known ? verdictOf(known) : null
    const is = verdictOf(result)
    return was?.words === is.words
      ? []
      : [{ id: result.id, question: result.question, before: was, after: is }]
  })
  const gone = before.results
    .filter(({ id }) => !later.has(id))
    .map((result) => ({ id: result.id, question: result.question, before: verdictOf(result), after: null }))
  return [...changed, ...gone]
}

export const FIGURES = [
  ['recallAt1', 'First passage'],
  ['recallAt5', 'In five passages'],
  ['answered', 'Answered'],
  ['declined', 'Rightly declined'],
] as const
