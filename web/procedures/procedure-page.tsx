import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Trash2 } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { ProcedureForm } from './procedure-form.tsx'
import { ProcedureRuns } from './procedure-runs.tsx'

const PATH = '/agents/{agentId}/procedures/{procedureId}'

/** One procedure: its steps, whether it is on, and its last runs. */
export function ProcedurePage() {
  const agentId = useAgentId()
  const { procedureId = '' } = useParams({ strict: false })
  return procedureId === 'new' ? (
    <Page title="New procedure" narrow about="It is disabled until you have reviewed it.">
      <ProcedureForm agentId={agentId} procedure={null} />
    </Page>
  ) : (
    <KnownProcedure agentId={agentId} procedureId={procedureId} />
  )
}

function KnownProcedure({ agentId, procedureId }: { agentId: string; procedureId: string }) {
  const procedure = useQuery(reading(PATH, { params: { agentId, procedureId } }))
  const { data } = procedure
  const can = useCan()
  const navigate = useNavigate()
  const changed = () => {
    void fetchAgain('/agents/{agentId}/procedures')
    return fetchAgain(PATH)
  }
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      call('PUT', PATH, { params: { agentId, procedureId }, body: { enabled } }),
    onSuccess: ({ enabled }) => {
      tell(
        'done',
        enabled ? 'The agent follows it from the next answer on.' : 'The agent does not follow it.',
      )
      return changed()
    },
  })
  const remove = useMutation({
    mutationFn: () => call('DELETE', PATH, { params: { agentId, procedureId } }),
    onSuccess: () => {
      if (data) {
        const { name, trigger, steps } = data
        const again = () =>
          call('POST', '/agents/{agentId}/procedures', {
            params: { agentId },
            body: { name, trigger, steps },
          })
        tell('done', 'The procedure is gone.', { label: 'Undo', run: () => void again().then(changed) })
      }
      void changed()
      void navigate({ to: '/agents/$agentId/procedures', params: { agentId } })
    },
  })
  return (
    <Page
      title={data?.name ?? 'Procedure'}
      about={data && (data.enabled ? 'The agent follows it.' : 'It is off: the agent does not know it yet.')}
      narrow
      actions={
        can('actions:write') &&
        data && (
          <>
            <Button
              kind={data.enabled ? 'secondary' : 'primary'}
              pending={turn.isPending}
              onClick={() => turn.mutate(!data.enabled)}
            >
              {data.enabled ? 'Turn off' : 'Turn on'}
            </Button>
            <Button icon={Trash2} kind="danger" pending={remove.isPending} onClick={() => remove.mutate()}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Loaded of={procedure}>
        {(known) => (
          <>
            <ProcedureForm key={known.updatedAt} agentId={agentId} procedure={known} />
            {can('conversations:read') && <ProcedureRuns agentId={agentId} procedureId={procedureId} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}
