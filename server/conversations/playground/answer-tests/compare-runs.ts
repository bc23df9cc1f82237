import type { Static } from 'typebox'
import type { AnswerComparison, Result } from './schema.ts'

type Comparison = Static<typeof AnswerComparison>
type Side = Comparison['figures']['before']

/** A difference that comes up more often by chance is not taken for one. */
const SIGNIFICANCE = 0.05

/** Compares two runs by the cases that both have asked. What nobody could tell counts for neither. */
export function compareRuns(before: readonly Result[], after: readonly Result[]): Comparison {
  const [old, now] = [decided(before), decided(after)]
  const shared = [...now].flatMap(([caseId, results]) => {
    const former = old.get(caseId)
    return former ? [{ caseId, former, results }] : []
  })
  const cases = shared.map(({ caseId, former, results }) => {
    const figures = { before: figuresOf(former), after: figuresOf(results) }
    const name = results[0]?.name ?? ''
    return { caseId, name, before: figures.before.passed, after: figures.after.passed, figures }
  })
  const better = cases.filter((one) => one.after > one.before).length
  const worse = cases.filter((one) => one.after < one.before).length
  const counts = { better, worse, same: cases.length - better - worse, chance: signTest(better, worse) }
  const figures = {
    before: figuresOf(shared.flatMap(({ former }) => former)),
    after: figuresOf(shared.flatMap(({ results }) => results)),
  }
  return { cases, figures, ...counts, conclusion: conclusionOf(counts) }
}

/** Whether a run is worse than the one before it, and more so than chance explains. */
export const isFall = ({ better, worse, chance }: Pick<Comparison, 'better' | 'worse' | 'chance'>): boolean =>
  worse > better && chance < SIGNIFICANCE

function decided(results: readonly Result[]): Map<string, Result[]> {
  return Map.groupBy(
    results.filter(({ passed }) => passed !== null),
    ({ caseId }) => caseId,
  )
}

const figuresOf = (results: readonly Result[]): Side => ({
  passed: results.length === 0 ? 0 : results.filter(({ passed }) => passed).length / results.length,
  firstMs: mean(results.map((one) => one.firstMs)),
  ms: mean(results.map((one) => one.ms)),
  inputTokens: mean(results.map((one) => one.inputTokens)),
  outputTokens: mean(results.map((one) => one.outputTokens)),
  dollars: mean(results.map((one) => one.dollars)),
})

function mean(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  if (known.length === 0 || known.length < values.length) return null
  return known.reduce((sum, value) => sum + value, 0) / known.length
}

/** The two-sided sign test: how likely so uneven a split is when better and worse are equally likely. */
function signTest(better: number, worse: number): number {
  const n = better + worse
  let chosen = 1
  let tail = 0
  for (let k = 0; k <= Math.min(better, worse); k++) {
    tail += chosen
    chosen = (chosen * (n - k)) / (k + 1)
  }
  return Math.min(1, (2 * tail) / 2 ** n)
}

function conclusionOf(counts: Pick<Comparison, 'better' | 'worse' | 'same' | 'chance'>): string {
  const { better, worse, same, chance } = counts
  const total = better + worse + same
  if (total === 0) return 'The two runs have no decided case in common.'
  if (better + worse === 0) return `${total === 1 ? 'The case' : `All ${total} cases`} came out as before.`
  const split = `Of ${total === 1 ? '1 case' : `${total} cases`}, ${worse} came out worse and ${better} better.`
  const often = `${Math.max(1, Math.round(chance * 100))} of 100`
  return chance < SIGNIFICANCE
    ? `${split} That is more than chance explains: without a real difference, so uneven a split comes up in at most ${often} comparisons.`
    : `${split} That may be chance: without a real difference, so uneven a split comes up in ${often} comparisons.`
}
