import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listing, reading } from '../app/api.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useCan } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { formatShare, formatTime } from '../ui/format.ts'
import { Hidden } from '../ui/hidden.tsx'
import { CircleCheck } from '../ui/icons.ts'
import { Badge, Section, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './evaluations.module.css'
import {
  differencesOf,
  FIGURES,
  type ListedRun,
  type Result,
  type Run,
  type Verdict,
  verdictOf,
} from './results.ts'
import { BackButton } from './runs.tsx'
import { WriteAnswer } from './write-answer.tsx'

type RunReportProps = {
  agentId: string
  runId: string
  /** The run to compare with; by default, the previous run of the same set. */
  withId: string | undefined
  onWith: (id: string | undefined) => Promise<void>
  onBack: () => void
}

/** Shows the results of a run: its figures compared with an earlier run, what changed, and what still fails. */
export function RunReport({ agentId, runId, withId, onWith, onBack }: RunReportProps) {
  const run = useRun(agentId, runId)
  const runs = useInfiniteQuery(
    listing('/agents/{agentId}/evaluation-runs', { params: { agentId }, query: { limit: 50 } }),
  )
  const all = runs.data?.pages.flatMap(({ data }) => data) ?? []
  const before = withId ?? earlierThan(all, runId)?.id
  const other = useRun(agentId, before ?? '')
  return (
    <div className={classes.stack}>
      <div className={classes.set}>
        <BackButton onBack={onBack} />
        <div>
          <SavedSelect
            label="Compare with"
            options={[
              ['', 'No other run'],
              ...all
                .filter(({ id }) => id !== runId)
                .map(({ id, note, createdAt, setName }) => [id, nameOf(note, createdAt, setName)] as const),
            ]}
            value={before ?? ''}
            onSave={(id) => onWith(id || undefined)}
          />
        </div>
      </div>
      <Loaded of={run}>
        {(data) => <Report agentId={agentId} run={data} before={before ? other.data : undefined} />}
      </Loaded>
    </div>
  )
}

const useRun = (agentId: string, runId: string) =>
  useQuery({
    ...reading('/agents/{agentId}/evaluation-runs/{runId}', { params: { agentId, runId } }),
    enabled: runId !== '',
    staleTime: Number.POSITIVE_INFINITY,
  })

/** `all` is newest first. */
function earlierThan(all: ListedRun[], runId: string): ListedRun | undefined {
  const at = all.findIndex(({ id }) => id === runId)
  return at === -1 ? undefined : all.slice(at + 1).find(({ setId }) => setId === all[at]?.setId)
}

const nameOf = (note: string, createdAt: string, setName: string | null): string =>
  [note, formatTime(createdAt), setName].filter(Boolean).join(', ')

function Report({ agentId, run, before }: { agentId: string; run: Run; before: Run | undefined }) {
  const can = useCan()
  const [answering, setAnswering] = useState<Result | null>(null)
  const failing = run.results.filter((result) => !verdictOf(result).isGood)
  return (
    <>
      <h2>{nameOf(run.note, run.createdAt, run.setName)}</h2>
      <dl className={classes.figures}>
        {FIGURES.map(([name, label]) => (
          <div key={name}>
            <dt>{label}</dt>
            <dd>
              {formatShare(run[name])} <Change from={before?.[name]} to={run[name]} />
            </dd>
          </div>
        ))}
      </dl>
      {before && <Differences run={run} before={before} />}
      <Section title="Failing questions">
        {failing.length === 0 ? (
          <Empty icon={CircleCheck} title={run.questions === 0 ? 'Nothing was asked' : 'None fails'}>
            {run.questions === 0
              ? 'The set had no question when it was run.'
              : 'Each question finds its answer, or is declined as it should be.'}
          </Empty>
        ) : (
          <Table
            stacked
            label="Failing questions"
            head={['Question', 'What happened', 'Found instead', <Hidden key="write">Actions</Hidden>]}
          >
            {failing.map((result) => (
              <tr key={result.id}>
                <td className={classes.question} dir="auto">
                  {result.question}
                </td>
                <td>
                  <Shown verdict={verdictOf(result)} otherwise="" />
                </td>
                <td className={classes.expected}>
                  {[...new Set(result.sources.map(({ name, url }) => name ?? url ?? 'Untitled'))].join(
                    ', ',
                  ) || 'nothing'}
                </td>
                <td>
                  {can('sources:write') && !isToBeDeclined(result) && (
                    <Button small onClick={() => setAnswering(result)}>
                      Write the answer
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Section>
      {answering && <WriteAnswer agentId={agentId} result={answering} onClose={() => setAnswering(null)} />}
    </>
  )
}

function Differences({ run, before }: { run: Run; before: Run }) {
  const differences = differencesOf(before, run)
  return (
    <Section title="Differences" about={`Against ${nameOf(before.note, before.createdAt, before.setName)}.`}>
      {differences.length === 0 ? (
        <p className={classes.faint}>Each question came out as before.</p>
      ) : (
        <Table stacked label="Differences" head={['Question', 'Before', 'Now']}>
          {differences.map((one) => (
            <tr key={one.id}>
              <td className={classes.question} dir="auto">
                {one.question}
              </td>
              <td>
                <Shown verdict={one.before} otherwise="was not asked" />
              </td>
              <td>
                <Shown verdict={one.after} otherwise="is not asked any more" />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}

const isToBeDeclined = ({ expectedSourceId, expectedAnswer }: Result): boolean =>
  expectedSourceId === null && expectedAnswer === null

const Shown = ({ verdict, otherwise }: { verdict: Verdict | null; otherwise: string }) =>
  verdict ? (
    <Badge tone={verdict.isGood ? 'success' : 'danger'}>{verdict.words}</Badge>
  ) : (
    <span className={classes.faint}>{otherwise}</span>
  )

function Change({ from, to }: { from: number | null | undefined; to: number | null }) {
  if (from === undefined || from === null || to === null) return null
  const points = Math.round(to * 100) - Math.round(from * 100)
  if (points === 0) return <small className={classes.same}>as before</small>
  return (
    <small className={points > 0 ? classes.better : classes.worse}>
      {points > 0 ? `+${points}` : `−${-points}`} points
    </small>
  )
}
