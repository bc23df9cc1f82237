import { useQuery } from '@tanstack/react-query'
import { call, type OutputOf, reading } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { tell } from '../ui/toast.tsx'

const PATH = '/agents/{agentId}/guardrails'

export type Guardrails = OutputOf<'GET', typeof PATH>
export type SeenGuardrails = Guardrails & { etag?: string }

export const useGuardrails = (agentId: string) => useQuery(reading(PATH, { params: { agentId } }))

/** Saves some of the guardrails of an agent. */
export const useSaveGuardrails = (agentId: string, seen: SeenGuardrails) =>
  useMutation({
    meta: { quiet: true },
    mutationFn: (change: Partial<Guardrails>) =>
      saveVersion({
        base: seen,
        fieldsOf: (one) => one,
        change,
        send: (body: Partial<Guardrails>, headers) =>
          call('PUT', PATH, { params: { agentId }, body, headers }),
      }),
    onSuccess: (whose) => {
      tell('done', whose === 'mine' ? 'Saved.' : 'Nothing was saved: you see what is in use.')
      return Promise.all([fetchAgain(PATH), fetchAgain('/agents/{agentId}/spending')])
    },
  })
