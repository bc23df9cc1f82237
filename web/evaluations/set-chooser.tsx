import { useState } from 'react'
import { call, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { SavedSelect } from '../app/saved-select.tsx'
import { useMutation } from '../app/use-mutation.ts'
import { buttonClass } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { Pencil, Plus, Trash2 } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './evaluations.module.css'

const PATH = '/agents/{agentId}/evaluation-sets'
type EvaluationSet = OutputOf<'GET', typeof PATH>['data'][number]

type SetChooserProps = {
  agentId: string
  sets: EvaluationSet[]
  chosen: string | undefined
  mayWrite: boolean
  onChoose: (id: string | undefined) => Promise<void>
}

/** Selects the set whose questions are shown and run. Sets can be added, renamed and deleted here. */
export function SetChooser({ agentId, sets, chosen, mayWrite, onChoose }: SetChooserProps) {
  const [naming, setNaming] = useState<'new' | EvaluationSet | null>(null)
  const [isRemoving, setIsRemoving] = useState(false)
  const set = sets.find(({ id }) => id === chosen)
  const remove = useMutation({
    mutationFn: (setId: string) => call('DELETE', `${PATH}/{setId}`, { params: { agentId, setId } }),
    onSuccess: () => {
      tell('done', 'The set is gone; its questions stay.')
      setIsRemoving(false)
      void fetchAgain(PATH, '/agents/{agentId}/evaluations')
      void onChoose(undefined)
    },
  })
  return (
    <div className={classes.set}>
      <div>
        <SavedSelect
          label="Set"
          options={[
            ['', 'All questions'],
            ...sets.map(({ id, name, questions }) => [id, `${name} (${questions})`] as const),
          ]}
          value={set?.id ?? ''}
          onSave={(id) => onChoose(id || undefined)}
        />
      </div>
      {mayWrite && (
        <Menu
          label="Manage sets"
          className={buttonClass('secondary')}
          choices={[
            { id: 'new', label: 'New set', icon: Plus, onChoose: () => setNaming('new') },
            ...(set
              ? [
                  { id: 'rename', label: 'Rename it', icon: Pencil, onChoose: () => setNaming(set) },
                  {
                    id: 'delete',
                    label: 'Delete it',
                    hint: 'Its questions stay',
                    icon: Trash2,
                    danger: true,
                    onChoose: () => setIsRemoving(true),
                  },
                ]
              : []),
          ]}
        />
      )}
      {isRemoving && set && (
        <Confirm
          title={`Delete the set ${set.name}?`}
          action="Delete the set"
          pending={remove.isPending}
          onConfirm={() => remove.mutate(set.id)}
          onClose={() => setIsRemoving(false)}
        >
          Its questions stay, but no longer as a set.
        </Confirm>
      )}
      {naming && (
        <NameDialog
          agentId={agentId}
          set={naming === 'new' ? null : naming}
          onDone={onChoose}
          onClose={() => setNaming(null)}
        />
      )}
    </div>
  )
}

type NameDialogProps = {
  agentId: string
  set: EvaluationSet | null
  onDone: (id: string) => Promise<void>
  onClose: () => void
}

function NameDialog({ agentId, set, onDone, onClose }: NameDialogProps) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (name: string) =>
      set
        ? call('PUT', `${PATH}/{setId}`, { params: { agentId, setId: set.id }, body: { name } })
        : call('POST', PATH, { params: { agentId }, body: { name } }),
    onSuccess: ({ id }) => {
      void fetchAgain(PATH)
      void onDone(id)
      onClose()
    },
  })
  return (
    <Dialog title={set ? 'Rename the set' : 'New set'} isOpen onClose={onClose}>
      <Form save={save} onSubmit={(fields) => save.mutate(String(fields.get('name')).trim())}>
        <TextField
          label="Name of the set"
          name="name"
          required
          maxLength={100}
          defaultValue={set?.name}
          autoFocus
        />
        <FormActions save={save} kind="primary" label="Save the set" onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
