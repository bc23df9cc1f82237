import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call, listing, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { formatDollars, formatNumber, formatTime } from '../ui/format.ts'
import { Badge, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { AnswerComparison } from './answer-comparison.tsx'
import { Conversation, type Run } from './answer-conversation.tsx'
import { type ListedAnswerRun, StatusBadge } from './answer-tests.tsx'
import classes from './evaluations.module.css'
import { BackButton } from './runs.tsx'

const RUN = '/agents/{agentId}/answer-runs/{answerRunId}'

type AnswerRunProps = {
  agentId: string
  runId: string
  /** The run to compare with. */
  withId: string | undefined
  mayWrite: boolean
  onWith: (id: string | undefined) => Promise<void>
  /** Shows another test, compared with this one. */
  onAgain: (runId: string) => void
  onBack: () => void
}

/** Shows a test of answers while it runs and afterwards: figures, what changed, and each conversation. */
export function AnswerRun({ agentId, runId, withId, mayWrite, onWith, onAgain, onBack }: AnswerRunProps) {
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
            {withId ? (
              <AnswerComparison agentId={agentId} run={data} withId={withId} mayWrite={mayWrite} />
            ) : (
              <Section title="Conversations">
                {data.results.length === 0 && data.status === 'running' && (
                  <p className={classes.faint}>The first answer is on its way.</p>
                )}
                {[...data.results].sort(failuresFirst).map((result) => (
                  <Conversation
                    key={`${result.caseId} ${result.repetition}`}
                    of={{ agentId, runId, result, mayWrite }}
                    isOpen={result.passed !== true}
                    {...(data.status === 'running' ? {} : { onAgain })}
                    repeats={data.repeats}
                  />
                ))}
              </Section>
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

const nameOf = ({ note, createdAt }: Pick<ListedAnswerRun, 'note' | 'createdAt'>): string =>
  [note, formatTime(createdAt)].filter(Boolean).join(', ')

const RANK = new Map<boolean | null, number>([
  [false, 0],
  [null, 1],
  [true, 2],
])
const failuresFirst = (a: Run['results'][number], b: Run['results'][number]): number =>
  (RANK.get(a.passed) ?? 0) - (RANK.get(b.passed) ?? 0)

function Figures({ run }: { run: Run }) {
  const unknown = run.done - run.passed - run.failed
  const figures: [string, string][] = [
    ['Passed', `${formatNumber(run.passed)} of ${formatNumber(run.total)}`],
    ['Failed', formatNumber(run.failed)],
    ['Not decided', formatNumber(unknown)],
    ['Credits’ worth, not charged', formatNumber(run.credits)],
    ['Money', formatDollars(run.dollars)],
    ['Tokens', tokensOf(run)],
  ]
  return (
    <>
      <p role="status">
        <StatusBadge run={run} /> {run.problem}
      </p>
      {run.status === 'running' && (
        <progress
          className={classes.progress}
          value={run.done}
          max={run.total}
          aria-label={`${run.done} of ${run.total} done`}
        />
      )}
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

function tokensOf({ results }: Run): string {
  const tokens = results.flatMap(({ inputTokens, outputTokens, error }) =>
    error === null ? [inputTokens, outputTokens] : [],
  )
  const known = tokens.filter((one) => one !== null)
  return known.length < tokens.length ? 'not known' : formatNumber(known.reduce((a, b) => a + b, 0))
}
