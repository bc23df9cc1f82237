import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call, listing, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { formatDollars, formatNumber, formatShare, formatTime } from '../ui/format.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { type ListedAnswerRun, StatusBadge } from './answer-tests.tsx'
import classes from './evaluations.module.css'
import { ProposeFix } from './propose-fix.tsx'
import { BackButton } from './runs.tsx'

const RUN = '/agents/{agentId}/answer-runs/{answerRunId}'
type Run = OutputOf<'GET', typeof RUN>
type Result = Run['results'][number]

type AnswerRunProps = {
  agentId: string
  runId: string
  /** The run to compare with. */
  withId: string | undefined
  mayWrite: boolean
  onWith: (id: string | undefined) => Promise<void>
  onBack: () => void
}

/** Shows a test of answers while it runs and afterwards: figures, what changed, and each conversation. */
export function AnswerRun({ agentId, runId, withId, mayWrite, onWith, onBack }: AnswerRunProps) {
  const params = { agentId, answerRunId: runId }
  const run = useQuery({
    ...reading(RUN, { params }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? 1_000 : false),
  })
  const runs = useInfiniteQuery(
    listing('/agents/{agentId}/answer-runs', { params: { agentId }, query: { limit: 50 } }),
  )
  const others = (runs.data?.pages ?? []).flatMap(({ data }) => data).filter(({ id }) => id !== runId)
  const cancel = useMutation({
    mutationFn: () => call('POST', `${RUN}/cancel`, { params }),
    onSuccess: () => fetchAgain(RUN, '/agents/{agentId}/answer-runs'),
  })
  return (
    <div className={classes.stack}>
      <div className={classes.set}>
        <BackButton onBack={onBack} />
        <div>
          <SavedSelect
            label="Compare with"
            options={[['', 'No other test'], ...others.map((one) => [one.id, nameOf(one)] as const)]}
            value={withId ?? ''}
            onSave={(id) => onWith(id || undefined)}
          />
        </div>
        {mayWrite && run.data?.status === 'running' && (
          <Button kind="danger" pending={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel the test
          </Button>
        )}
      </div>
      <Loaded of={run}>
        {(data) => (
          <>
            <h2>
              {nameOf(data)} {data.version === 'draft' && <Badge tone="warning">draft</Badge>}
            </h2>
            <Figures run={data} />
            {withId && <Comparison agentId={agentId} run={data} withId={withId} />}
            <Section title="Conversations">
              {data.results.length === 0 && <p className={classes.faint}>The first answer is on its way.</p>}
              {[...data.results]
                .sort((a, b) => Number(a.passed) - Number(b.passed))
                .map((result) => (
                  <Conversation
                    key={`${result.caseId} ${result.repetition}`}
                    agentId={agentId}
                    result={result}
                  />
                ))}
            </Section>
          </>
        )}
      </Loaded>
    </div>
  )
}

const nameOf = ({ note, createdAt }: Pick<ListedAnswerRun, 'note' | 'createdAt'>): string =>
  [note, formatTime(createdAt)].filter(Boolean).join(', ')

function Figures({ run }: { run: Run }) {
  const dollars = run.results.map((one) => one.dollars)
  const known = dollars.filter((one) => one !== null)
  const figures: [string, string][] = [
    ['Passed', `${formatNumber(run.passed)} of ${formatNumber(run.total)}`],
    ['Credits’ worth, not charged', formatNumber(run.credits)],
    ['Money', known.length < dollars.length ? 'not known' : formatDollars(known.reduce((a, b) => a + b, 0))],
  ]
  return (
    <>
      <p role="status">
        <StatusBadge run={run} />
      </p>
      <dl className={classes.figures}>
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function Comparison({ agentId, run, withId }: { agentId: string; run: Run; withId: string }) {
  const params = { agentId, answerRunId: run.id }
  const comparison = useQuery({
    ...reading(`${RUN}/comparison`, { params, query: { before: withId } }),
    // What is compared grows while the run does.
    refetchInterval: run.status === 'running' ? 1_000 : false,
  })
  return (
    <Section title="Differences" about="By the cases that both tests have asked.">
      <Loaded of={comparison}>
        {({ cases, better, worse, same, chance }) => {
          const changed = cases.filter(({ before, after }) => before !== after)
          return (
            <div className={classes.stack}>
              <p>
                {formatNumber(better)} better, {formatNumber(worse)} worse, {formatNumber(same)} as before.{' '}
                {better + worse > 0 &&
                  `By chance alone, a difference like this comes up ${formatShare(chance)} of the time.`}
              </p>
              {changed.length > 0 && (
                <Table stacked label="Differences" head={['Case', 'Passed before', 'Passed now']}>
                  {changed.map((one) => (
                    <tr key={one.caseId}>
                      <td className={classes.question} dir="auto">
                        {one.name}
                      </td>
                      <td className={classes.number}>{formatShare(one.before)}</td>
                      <td className={classes.number}>
                        <Badge tone={one.after > one.before ? 'success' : 'danger'}>
                          {formatShare(one.after)}
                        </Badge>
                      </td>
                    </tr>
                  ))}
                </Table>
              )}
            </div>
          )
        }}
      </Loaded>
    </Section>
  )
}

const CHECKS: Record<Result['checks'][number]['kind'], string> = {
  holds: 'holds',
  lacks: 'does not hold',
  cites: 'cites',
  calls: 'calls',
  declines: 'says that it does not know',
  handsOver: 'passes to a person',
  reachesGoal: 'gives the customer what they want',
  means: 'says',
  sounds: 'sounds',
}

function Conversation({ agentId, result }: { agentId: string; result: Result }) {
  return (
    <details className={classes.conversation} open={!result.passed}>
      <summary>
        <Badge tone={result.passed ? 'success' : 'danger'}>{result.passed ? 'passed' : 'failed'}</Badge>{' '}
        <span dir="auto">{result.name}</span>
        {result.repetition > 1 && <span className={classes.faint}> time {result.repetition}</span>}
      </summary>
      <dl className={classes.talk}>
        {result.messages.map(({ role, text }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order
          <div key={at}>
            <dt>{role === 'user' ? 'Customer' : 'Agent'}</dt>
            <dd dir="auto">{text || 'no words'}</dd>
          </div>
        ))}
      </dl>
      {result.error !== null && <p className={classes.worse}>{result.error}</p>}
      <ul className={classes.checks}>
        {result.checks.map(({ kind, expected, passed, reason }) => (
          <li key={`${kind} ${expected}`}>
            <Badge tone={passed === null ? 'warning' : passed ? 'success' : 'danger'}>
              {passed === null ? 'not known' : passed ? 'yes' : 'no'}
            </Badge>{' '}
            {CHECKS[kind]}: <span dir="auto">{shown(kind, expected, result)}</span>
            {reason !== null && <span className={classes.faint}> {reason}</span>}
          </li>
        ))}
      </ul>
      {!result.passed && result.error === null && <FixResult agentId={agentId} result={result} />}
      <p className={classes.faint}>
        {[
          result.model,
          result.sources.length > 0 &&
            `cites ${result.sources.map(({ name }) => name ?? 'Untitled').join(', ')}`,
          result.calls.length > 0 && `called ${result.calls.map(({ name }) => name).join(', ')}`,
          result.ending && ENDINGS[result.ending],
          `${formatNumber(result.ms)} ms`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </details>
  )
}

const ENDINGS = {
  content: 'the customer was content',
  gone: 'the customer gave up',
  limit: 'stopped at the most messages',
}

/** What is asked for is the last question, and the answers to it that the case does not accept. */
function FixResult({ agentId, result }: { agentId: string; result: Result }) {
  const said = (role: 'user' | 'assistant') =>
    result.messages.findLast((one) => one.role === role)?.text ?? ''
  const expected = result.checks.filter(({ kind }) => kind === 'means' || kind === 'holds')
  if (said('user') === '') return null
  return (
    <ProposeFix
      agentId={agentId}
      question={said('user')}
      answer={said('assistant')}
      right={expected.map((check) => String(check.expected)).join('\n')}
    />
  )
}

function shown(
  kind: Result['checks'][number]['kind'],
  expected: string | boolean,
  { sources }: Result,
): string {
  if (typeof expected === 'boolean') return expected ? 'yes' : 'no'
  if (kind !== 'cites') return expected
  return sources.find(({ id }) => id === expected)?.name ?? 'a source that it does not cite'
}
