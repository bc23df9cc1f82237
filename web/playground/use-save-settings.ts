import { call } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { tell } from '../ui/toast.tsx'
import type { Settings } from './settings.ts'

/** Returns the mutation that saves settings which were tried out, so that customers get them too. */
export const useSaveSettings = (agentId: string) =>
  useMutation({
    mutationFn: ({ instructions, model, temp }: Settings) =>
      call('PUT', '/agents/{agentId}', {
        params: { agentId },
        body: { instructions, model, temp: Number(temp) },
      }),
    onSuccess: () => {
      tell('done', 'Saved. The next answer to a customer follows it.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}'] })
    },
  })
