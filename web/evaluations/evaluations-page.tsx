import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { plural } from '../ui/format.ts'
import { Play, Plus } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { tell } from '../ui/toast.tsx'
import { AnswerRun } from './answer-run.tsx'
import { AnswerTests } from './answer-tests.tsx'
import { CaseDialog } from './case-dialog.tsx'
import { Cases } from './cases.tsx'
import { RunDialog } from './run-dialog.tsx'
import { RunReport } from './run-report.tsx'
import { Runs } from './runs.tsx'
import { SetChooser } from './set-chooser.tsx'

type Search = {
  tab?: string | undefined
  set?: string | undefined
  run?: string
  with?: string | undefined
}

/** Shows questions with expected answers, the runs that measure them, and how changes have affected the results. */
export function EvaluationsPage() {
  const agentId = useAgentId()
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  const can = useCan()
  const [adding, setAdding] = useState(false)
  const [asking, setAsking] = useState(false)
  const sets = useQuery(reading('/agents/{agentId}/evaluation-sets', { params: { agentId } }))
  const go = (next: Search) => navigate({ to: '.', search: next })
  const run = useRunSet(agentId, search.set, (runId) => {
    setAsking(false)
    void go({ set: search.set, tab: 'runs', run: runId })
  })
  const mayWrite = can('sources:write')
  return (
    <Page
      title="Evaluations"
      about="What is found for questions, and what is answered in conversations, measured before and after a change."
      actions={
        mayWrite &&
        search.tab !== 'answers' && (
          <QuestionActions
            pending={run.isPending}
            onAdd={() => setAdding(true)}
            onRun={() => setAsking(true)}
          />
        )
      }
    >
      {search.tab !== 'answers' && (
        <SetChooser
          agentId={agentId}
          sets={sets.data?.data ?? []}
          chosen={search.set}
          mayWrite={mayWrite}
          onChoose={(set) => go({ tab: search.tab, set })}
        />
      )}
      <Tabs
        label="Evaluations"
        chosen={search.tab ?? 'questions'}
        onChoose={(tab) => void go({ set: search.set, tab })}
        items={[
          {
            id: 'questions',
            label: 'Questions',
            content: (
              <Cases
                agentId={agentId}
                setId={search.set}
                sets={sets.data?.data ?? []}
                mayWrite={mayWrite}
                onAdd={() => setAdding(true)}
              />
            ),
          },
          {
            id: 'runs',
            label: 'Runs',
            content: <RunsTab agentId={agentId} search={search} go={go} />,
          },
          {
            id: 'answers',
            label: 'Answers',
            content: <AnswersTab agentId={agentId} search={search} go={go} mayWrite={can('agents:write')} />,
          },
        ]}
      />
      {adding && <NewCase agentId={agentId} setId={search.set} onClose={() => setAdding(false)} />}
      {asking && (
        <RunDialog
          isPending={run.isPending}
          onRun={(note) => run.mutate(note)}
          onClose={() => setAsking(false)}
        />
      )}
    </Page>
  )
}

type NewCaseProps = { agentId: string; setId: string | undefined; onClose: () => void }

const NewCase = ({ agentId, setId, onClose }: NewCaseProps) => (
  <CaseDialog
    agentId={agentId}
    start={{ question: '', expectedSourceId: null, expectedAnswer: null, setId: setId ?? null }}
    onClose={onClose}
  />
)

type QuestionActionsProps = { pending: boolean; onAdd: () => void; onRun: () => void }

const QuestionActions = ({ pending, onAdd, onRun }: QuestionActionsProps) => (
  <>
    <Button icon={Plus} onClick={onAdd}>
      Add a question
    </Button>
    <Button kind="primary" icon={Play} pending={pending} onClick={onRun}>
      Run
    </Button>
  </>
)

function useRunSet(agentId: string, set: string | undefined, onDone: (runId: string) => void) {
  return useMutation({
    mutationFn: (note: string) =>
      call('POST', '/agents/{agentId}/evaluation-runs', {
        params: { agentId },
        body: { setId: set ?? null, note },
      }),
    onSuccess: (made) => {
      tell('done', `${plural(made.questions, 'question')} measured.`)
      void fetchAgain('/agents/{agentId}/evaluation-runs')
      onDone(made.id)
    },
  })
}

function AnswersTab({ agentId, search, go, mayWrite }: RunsTabProps & { mayWrite: boolean }) {
  const open = (run: string) => void go({ tab: 'answers', run })
  return search.run ? (
    <AnswerRun
      agentId={agentId}
      runId={search.run}
      withId={search.with}
      mayWrite={mayWrite}
      onWith={(id) => go({ ...search, with: id })}
      onAgain={(id) => void go({ tab: 'answers', run: id, with: search.run })}
      onBack={() => void go({ tab: 'answers' })}
    />
  ) : (
    <AnswerTests agentId={agentId} mayWrite={mayWrite} onOpen={open} />
  )
}

type RunsTabProps = { agentId: string; search: Search; go: (next: Search) => Promise<void> }

function RunsTab({ agentId, search, go }: RunsTabProps) {
  return search.run ? (
    <RunReport
      agentId={agentId}
      runId={search.run}
      withId={search.with}
      onWith={(id) => go({ ...search, with: id })}
      onBack={() => void go({ set: search.set, tab: 'runs' })}
    />
  ) : (
    <Runs agentId={agentId} onOpen={(id) => void go({ set: search.set, tab: 'runs', run: id })} />
  )
}
