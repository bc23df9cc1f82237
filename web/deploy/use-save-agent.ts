import { call, type InputOf } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { tell } from '../ui/toast.tsx'

type AgentChange = InputOf<'PUT', '/agents/{agentId}'>['body']

/** Saves settings of an agent. The form displays errors. */
export function useSaveAgent(agentId: string) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (body: AgentChange) => call('PUT', '/agents/{agentId}', { params: { agentId }, body }),
    onSuccess: () => {
      tell('done', 'Saved.')
      void queries.invalidateQueries({ queryKey: ['/agents'] })
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}'] })
    },
  })
}
