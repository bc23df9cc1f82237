import type { FormEvent } from 'react'
import { call, type OutputOf } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, FormProblem, TextField } from '../ui/field.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Member = OutputOf<'GET', '/members'>[number]

export function RenameMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (name: string) =>
      call('PATCH', '/members/{memberId}', { params: { memberId: member.id }, body: { name } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      void queries.invalidateQueries({ queryKey: ['/members'] })
      onClose()
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    save.mutate(String(new FormData(event.currentTarget).get('name')).trim())
  }
  return (
    <Dialog title={`Rename ${member.name}`} isOpen onClose={onClose}>
      <Form save={save} onSubmit={submit}>
        <TextField label="Name" name="name" defaultValue={member.name} required maxLength={100} autoFocus />
        {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
        <FormActions>
          <Button kind="primary" type="submit" pending={save.isPending}>
            Rename
          </Button>
        </FormActions>
      </Form>
    </Dialog>
  )
}
