import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type OutputOf, reading } from '../app/api.ts'
import { formatDollars, formatNumber, formatShare } from '../ui/format.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Conversation, type Run } from './answer-conversation.tsx'
import classes from './evaluations.module.css'

const RUN = '/agents/{agentId}/answer-runs/{answerRunId}'
type Comparison = OutputOf<'GET', `${typeof RUN}/comparison`>
type Side = Comparison['figures']['before']

const inMs = (value: number | null): string =>
  value === null ? 'not known' : `${formatNumber(value / 1_000)} s`
const inNumbers = (value: number | null): string =>
  value === null ? 'not known' : formatNumber(Math.round(value))

const FIGURES: readonly [string, (side: Side) => string][] = [
  ['Passed', ({ passed }) => formatShare(passed)],
  ['First word', ({ firstMs }) => inMs(firstMs)],
  ['Whole time', ({ ms }) => inMs(ms)],
  ['Tokens read', ({ inputTokens }) => inNumbers(inputTokens)],
  ['Tokens written', ({ outputTokens }) => inNumbers(outputTokens)],
  ['Money', ({ dollars }) => formatDollars(dollars)],
]

type ComparisonProps = { agentId: string; run: Run; withId: string; mayWrite: boolean }

/** Shows two tests side by side: what the difference means, the figures of a conversation, and each case of both. */
export function AnswerComparison({ agentId, run, withId, mayWrite }: ComparisonProps) {
  const read = reading(`${RUN}/comparison`, {
    params: { agentId, answerRunId: run.id },
    query: { before: withId },
  })
  // What is compared grows while the run does.
  const comparison = useQuery({
    ...read,
    queryKey: [...read.queryKey, run.done],
    placeholderData: keepPreviousData,
  })
  const before = useQuery(reading(RUN, { params: { agentId, answerRunId: withId } }))
  return (
    <Section title="Side by side" about="By the cases that both tests have asked.">
      <Loaded of={comparison}>
        {({ cases, figures, conclusion }) => (
          <div className={classes.stack}>
            <p role="status">{conclusion}</p>
            {cases.length > 0 && (
              <Table stacked label="Figures of a conversation" head={['Figure', 'Before', 'Now']}>
                {FIGURES.map(([label, show]) => (
                  <tr key={label}>
                    <td>{label}</td>
                    <td className={classes.number}>{show(figures.before)}</td>
                    <td className={classes.number}>{show(figures.after)}</td>
                  </tr>
                ))}
              </Table>
            )}
            <Loaded of={before}>
              {(other) => (
                <>
                  {[...cases]
                    .sort((a, b) => a.after - a.before - (b.after - b.before))
                    .map((one) => (
                      <Pair key={one.caseId} one={one} before={other} now={run} {...{ agentId, mayWrite }} />
                    ))}
                </>
              )}
            </Loaded>
          </div>
        )}
      </Loaded>
    </Section>
  )
}

type PairProps = {
  one: Comparison['cases'][number]
  before: Run
  now: Run
  agentId: string
  mayWrite: boolean
}

function Pair({ one, before, now, agentId, mayWrite }: PairProps) {
  const change = one.after - one.before
  const sides: [string, Run, Side][] = [
    ['Before', before, one.figures.before],
    ['Now', now, one.figures.after],
  ]
  return (
    <details className={classes.conversation} open={change !== 0}>
      <summary>
        <Badge tone={change > 0 ? 'success' : change < 0 ? 'danger' : 'neutral'}>
          {change > 0 ? 'better' : change < 0 ? 'worse' : 'as before'}
        </Badge>{' '}
        <span dir="auto">{one.name}</span>{' '}
        <span className={classes.faint}>
          passed {formatShare(one.before)} before, {formatShare(one.after)} now
        </span>
      </summary>
      <div className={classes.pair}>
        {sides.map(([label, run, side]) => (
          <section key={label} aria-label={`${label}: ${one.name}`}>
            <h3>{label}</h3>
            <p className={classes.faint}>
              {FIGURES.slice(1)
                .map(([name, show]) => `${name} ${show(side)}`)
                .join(' · ')}
            </p>
            {run.results
              .filter(({ caseId }) => caseId === one.caseId)
              .map((result) => (
                <Conversation
                  key={result.repetition}
                  of={{ agentId, runId: run.id, result, mayWrite }}
                  isOpen={result.repetition === 1}
                />
              ))}
          </section>
        ))}
      </div>
    </details>
  )
}
