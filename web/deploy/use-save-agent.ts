import { type Agent, call, type InputOf } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { tell } from '../ui/toast.tsx'

type AgentChange = InputOf<'PUT', '/agents/{agentId}'>['body']

/** Saves settings of an agent, given the version that the user has seen. The form displays errors. */
export function useSaveAgent(agent: Agent, done = 'Saved.') {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (change: AgentChange) =>
      saveVersion({
        base: agent,
        fieldsOf: (one) => one,
        change,
        send: (body: AgentChange, headers) =>
          call('PUT', '/agents/{agentId}', { params: { agentId: agent.id }, body, headers }),
      }),
    onSuccess: (whose) => {
      tell('done', whose === 'mine' ? done : 'Nothing was saved: you see the version that is in use.')
      void fetchAgain('/agents', '/agents/{agentId}/instructions/versions')
      return fetchAgain('/agents/{agentId}')
    },
  })
}
