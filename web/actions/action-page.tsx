import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Trash2 } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { ActionForm } from './action-form.tsx'
import { ActionRuns } from './action-runs.tsx'
import { TestAction } from './test-action.tsx'

const PATH = '/agents/{agentId}/actions/{actionId}'

/** One action: what it does, a trial of it, and its last runs. */
export function ActionPage() {
  const agentId = useAgentId()
  const { actionId = '' } = useParams({ strict: false })
  return actionId === 'new' ? (
    <Page title="New action" narrow about="The agent decides by its description when to use it.">
      <ActionForm agentId={agentId} action={null} />
    </Page>
  ) : (
    <KnownAction agentId={agentId} actionId={actionId} />
  )
}

function KnownAction({ agentId, actionId }: { agentId: string; actionId: string }) {
  const action = useQuery(reading(PATH, { params: { agentId, actionId } }))
  const can = useCan()
  const navigate = useNavigate()
  const [isLeaving, setIsLeaving] = useState(false)
  const remove = useMutation({
    mutationFn: () => call('DELETE', PATH, { params: { agentId, actionId } }),
    onSuccess: () => {
      tell('done', 'The action is gone. Procedures that name it are off.')
      void fetchAgain('/agents/{agentId}/actions', '/agents/{agentId}/procedures')
      void navigate({ to: '/agents/$agentId/actions', params: { agentId } })
    },
  })
  return (
    <Page
      title={action.data?.name ?? 'Action'}
      narrow
      actions={
        can('actions:write') &&
        action.data && (
          <Button icon={Trash2} kind="danger" onClick={() => setIsLeaving(true)}>
            Delete
          </Button>
        )
      }
    >
      <Loaded of={action}>
        {(data) => (
          <>
            <ActionForm key={data.updatedAt} agentId={agentId} action={data} />
            {can('actions:write') && <TestAction agentId={agentId} action={data} />}
            {can('conversations:read') && <ActionRuns agentId={agentId} actionId={actionId} />}
            {isLeaving && (
              <Confirm
                title={`Delete ${data.name}?`}
                action="Delete for good"
                pending={remove.isPending}
                onConfirm={() => remove.mutate()}
                onClose={() => setIsLeaving(false)}
              >
                The values of its headers cannot be read back, so this cannot be undone. Procedures that name
                it are turned off. To keep it, turn it off instead.
              </Confirm>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
