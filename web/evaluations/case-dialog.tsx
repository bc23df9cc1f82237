import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, Select, TextArea } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'

export type Case = OutputOf<'GET', '/agents/{agentId}/evaluations'>['data'][number]
type Start = Pick<Case, 'question' | 'expectedSourceId' | 'expectedAnswer' | 'setId'> & { id?: string }

type CaseDialogProps = { agentId: string; start: Start; onClose: () => void }

/** Adds an evaluation question, or changes the one that `start` identifies. */
export function CaseDialog({ agentId, start, onClose }: CaseDialogProps) {
  const [draft, setDraft] = useState(start)
  const change = (part: Partial<Start>) => setDraft((now) => ({ ...now, ...part }))
  const params = { agentId }
  const sets = useQuery(reading('/agents/{agentId}/evaluation-sets', { params }))
  const sources = useQuery(reading('/agents/{agentId}/sources', { params, query: { limit: 100 } }))
  const save = useSaveCase(agentId, onClose)
  const named = (sources.data?.data ?? []).map(({ id, name }) => [id, name ?? 'Untitled'] as const)
  const gone = draft.expectedSourceId !== null && !named.some(([id]) => id === draft.expectedSourceId)
  return (
    <Dialog
      title={start.id === undefined ? 'Add an evaluation question' : 'Change the question'}
      isOpen
      onClose={onClose}
      wide
    >
      <Form save={save} onSubmit={() => save.mutate(draft)}>
        <TextArea
          label="Question"
          rows={2}
          required
          maxLength={1_000}
          value={draft.question}
          onChange={({ target }) => change({ question: target.value })}
        />
        <Select
          label="Expected source"
          hint="Leave both empty for a question that it should decline."
          options={[
            ['', 'No source in particular'],
            ...named,
            ...(gone && draft.expectedSourceId ? [[draft.expectedSourceId, 'Another source'] as const] : []),
          ]}
          value={draft.expectedSourceId ?? ''}
          onChoose={(chosen) => change({ expectedSourceId: chosen || null })}
        />
        <TextArea
          label="Expected answer"
          rows={4}
          maxLength={10_000}
          hint="A passage with most of these words counts as found, in any form of them."
          value={draft.expectedAnswer ?? ''}
          onChange={({ target }) => change({ expectedAnswer: target.value || null })}
        />
        <Select
          label="Set"
          options={[['', 'In no set'], ...(sets.data?.data ?? []).map(({ id, name }) => [id, name] as const)]}
          value={draft.setId ?? ''}
          onChoose={(chosen) => change({ setId: chosen || null })}
        />
        <FormActions save={save} kind="primary" label="Save the question" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

function useSaveCase(agentId: string, onSaved: () => void) {
  const params = { agentId }
  return useMutation({
    meta: { quiet: true },
    mutationFn: (draft: Start) => {
      const { id, ...body } = { ...draft, expectedAnswer: draft.expectedAnswer?.trim() || null }
      return id === undefined
        ? call('POST', '/agents/{agentId}/evaluations', { params, body })
        : call('PUT', '/agents/{agentId}/evaluations/{evaluationId}', {
            params: { agentId, evaluationId: id },
            body,
          })
    },
    onSuccess: () => {
      tell('done', 'The question is part of the next evaluation.')
      void fetchAgain('/agents/{agentId}/evaluations', '/agents/{agentId}/evaluation-sets')
      onSaved()
    },
  })
}
