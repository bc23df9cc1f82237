import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, listing, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { formatNumber, formatTime, plural } from '../ui/format.ts'
import { Hidden } from '../ui/hidden.tsx'
import { Ellipsis, ListChecks, Pencil, Play, Trash2 } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { Badge, Section, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { AddCases } from './add-cases.tsx'
import { AnswerCaseDialog } from './answer-case-dialog.tsx'
import type { AnswerCase, CaseStart } from './answer-case-draft.ts'
import { AnswerSchedule } from './answer-schedule.tsx'
import classes from './evaluations.module.css'
import { Judges } from './judges.tsx'
import { StartDialog } from './start-answer-test.tsx'

const CASES = '/agents/{agentId}/answer-cases'
const RUNS = '/agents/{agentId}/answer-runs'

export type ListedAnswerRun = OutputOf<'GET', typeof RUNS>['data'][number]

type AnswerTestsProps = { agentId: string; mayWrite: boolean; onOpen: (runId: string) => void }

/** Lists the conversations that the agent is tested with, and the tests so far. */
export function AnswerTests({ agentId, mayWrite, onOpen }: AnswerTestsProps) {
  const [editing, setEditing] = useState<CaseStart | null>(null)
  const [asking, setAsking] = useState(false)
  const cases = useInfiniteQuery(listing(CASES, { params: { agentId }, query: { limit: 50 } }))
  const remove = useRemove(agentId)
  return (
    <div className={classes.stack}>
      <Section
        title="Cases"
        about="Conversations with what their last answer must hold. A language model answers; nothing is charged and no action runs."
        actions={
          mayWrite && (
            <>
              <AddCases agentId={agentId} onEdit={setEditing} />
              <Button kind="primary" icon={Play} onClick={() => setAsking(true)}>
                Test the answers
              </Button>
            </>
          )
        }
      >
        <Loaded of={cases}>
          {({ pages }) => {
            const all = pages.flatMap(({ data }) => data)
            if (all.length === 0) {
              return (
                <Empty icon={ListChecks} title="No case yet">
                  Add what customers ask and what a right answer holds, and try a change before it is saved.
                  An answer in a conversation becomes a case by one click.
                </Empty>
              )
            }
            return (
              <>
                <Table
                  stacked
                  label="Cases"
                  head={['Case', 'The customer writes', 'Checks', <Hidden key="a">Actions</Hidden>]}
                >
                  {all.map((one) => (
                    <CaseRow
                      key={one.id}
                      one={one}
                      onEdit={mayWrite ? () => setEditing(one) : undefined}
                      onRemove={() => remove.mutate(one)}
                    />
                  ))}
                </Table>
                <ShowMore of={cases} className={sources.more} />
              </>
            )
          }}
        </Loaded>
      </Section>
      <Runs agentId={agentId} onOpen={onOpen} />
      <AnswerSchedule agentId={agentId} mayWrite={mayWrite} onOpen={onOpen} />
      <Judges agentId={agentId} />
      {editing && <AnswerCaseDialog agentId={agentId} start={editing} onClose={() => setEditing(null)} />}
      {asking && <StartDialog agentId={agentId} onStarted={onOpen} onClose={() => setAsking(false)} />}
    </div>
  )
}

type CaseRowProps = { one: AnswerCase; onEdit: (() => void) | undefined; onRemove: () => void }

const CaseRow = ({ one, onEdit, onRemove }: CaseRowProps) => (
  <tr>
    <td className={classes.question} dir="auto">
      {one.name}
    </td>
    <td className={classes.expected} dir="auto">
      {one.messages[0] ?? one.customer?.goal}
      {one.messages.length > 1 && ` (${plural(one.messages.length, 'message')})`}
      {one.customer && ' (simulated customer)'}
    </td>
    <td className={classes.expected} dir="auto">
      {Object.values(one.expect).flat().map(String).join(' · ') || 'that there is an answer'}
    </td>
    <td className={sources.end}>
      {onEdit && (
        <Menu
          label={`Actions for ${one.name}`}
          className={sources.dots}
          choices={[
            { id: 'edit', label: 'Change', icon: Pencil, onChoose: onEdit },
            { id: 'delete', label: 'Delete', icon: Trash2, danger: true, onChoose: onRemove },
          ]}
        >
          <Ellipsis size={18} aria-hidden />
        </Menu>
      )}
    </td>
  </tr>
)

function useRemove(agentId: string) {
  return useMutation({
    mutationFn: ({ id }: AnswerCase) =>
      call('DELETE', `${CASES}/{caseId}`, { params: { agentId, caseId: id } }),
    onSuccess: (_, { id: _id, createdAt: _made, updatedAt: _changed, ...body }) => {
      void fetchAgain(CASES)
      tell('done', 'The case is gone.', {
        label: 'Undo',
        run: () => void call('POST', CASES, { params: { agentId }, body }).then(() => fetchAgain(CASES)),
      })
    },
  })
}

function Runs({ agentId, onOpen }: Omit<AnswerTestsProps, 'mayWrite'>) {
  const runs = useInfiniteQuery(listing(RUNS, { params: { agentId }, query: { limit: 50 } }))
  return (
    <Section title="Tests so far">
      <Loaded of={runs}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) return <p className={classes.faint}>Its answers were never tested.</p>
          return (
            <>
              <Table stacked label="Tests" head={['Test', 'Passed', 'State', 'Credits’ worth', 'When']}>
                {all.map((run) => (
                  <tr key={run.id}>
                    <td className={classes.question}>
                      <button type="button" className={sources.open} onClick={() => onOpen(run.id)}>
                        {run.note || (run.isScheduled ? 'Scheduled' : formatTime(run.createdAt))}
                      </button>{' '}
                      {run.version === 'draft' && <Badge tone="warning">draft</Badge>}
                    </td>
                    <td className={classes.number}>
                      {formatNumber(run.passed)} of {formatNumber(run.total)}
                    </td>
                    <td>
                      <StatusBadge run={run} />
                    </td>
                    <td className={classes.number}>{formatNumber(run.credits)}</td>
                    <td className={sources.nowrap}>
                      <Ago at={run.createdAt} />
                    </td>
                  </tr>
                ))}
              </Table>
              <ShowMore of={runs} className={sources.more} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}

export function StatusBadge({ run }: { run: ListedAnswerRun }) {
  if (run.status === 'running') {
    return (
      <Badge tone="info">
        {formatNumber(run.done)} of {formatNumber(run.total)} done
      </Badge>
    )
  }
  if (run.status === 'canceled') return <Badge>canceled</Badge>
  if (run.status === 'stopped') return <Badge tone="warning">stopped</Badge>
  if (run.failed === 0 && run.passed < run.total)
    return <Badge tone="warning">{formatNumber(run.total - run.passed)} not decided</Badge>
  return run.passed === run.total ? (
    <Badge tone="success">all passed</Badge>
  ) : (
    <Badge tone="danger">{plural(run.failed, 'failure')}</Badge>
  )
}
