import { useQuery } from '@tanstack/react-query'
import { type AgentDraft, call, type InputOf, reading } from '../app/api.ts'
import { saveVersion } from '../app/conflicts.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { tell } from '../ui/toast.tsx'

export const DRAFT = '/agents/{agentId}/draft'
export const VERSIONS = '/agents/{agentId}/versions'
type Change = InputOf<'PUT', typeof DRAFT>['body']

export const useDraft = (agentId: string) =>
  useQuery({
    ...reading(DRAFT, { params: { agentId } }),
    // Its new texts are being read.
    refetchInterval: ({ state }) => (state.data && state.data.reading.waiting > 0 ? 1_500 : false),
  })

export const draftChanged = (): Promise<void> =>
  fetchAgain(DRAFT, `${DRAFT}/changes`, '/agents/{agentId}/sources', '/agents/{agentId}/sources/summary')

/** Changes a part of the draft that nobody writes, such as whether an action is on. */
export const useChangeDraft = (agentId: string) =>
  useMutation({
    mutationFn: (body: Change) => call('PUT', DRAFT, { params: { agentId }, body }),
    onSuccess: draftChanged,
  })

type SaveOptions<F extends object> = {
  agentId: string
  /** The draft as the user has seen it. */
  draft: AgentDraft
  /** Returns the fields of the form in a draft. */
  fieldsOf: (draft: AgentDraft) => F
  /** Returns the request that changes these fields. */
  bodyOf: (fields: Partial<F>) => Change
  onSaved?: () => void
}

/** Saves a form of the draft. If somebody else has changed the same fields, the user sees the differences. */
export const useSaveDraft = <F extends object>(options: SaveOptions<F>) => {
  const { agentId, draft, fieldsOf, bodyOf, onSaved } = options
  return useMutation({
    meta: { quiet: true },
    mutationFn: (change: Partial<F>) =>
      saveVersion({
        base: draft,
        fieldsOf,
        change,
        send: (fields: Partial<F>, headers) =>
          call('PUT', DRAFT, { params: { agentId }, body: bodyOf(fields), headers }),
      }),
    onSuccess: (whose) => {
      tell('done', whose === 'mine' ? 'Saved in the draft.' : 'Nothing was saved: you see the other version.')
      onSaved?.()
      return draftChanged()
    },
  })
}
