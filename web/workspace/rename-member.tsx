import { call, type OutputOf } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextField } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'

type Member = OutputOf<'GET', '/members'>[number]

export function RenameMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: (name: string) =>
      call('PATCH', '/members/{memberId}', { params: { memberId: member.id }, body: { name } }),
    onSuccess: () => {
      tell('done', 'Saved.')
      void fetchAgain('/members')
      onClose()
    },
  })
  const submit = (fields: FormData): void => save.mutate(String(fields.get('name')).trim())
  return (
    <Dialog title={`Rename ${member.name}`} isOpen onClose={onClose}>
      <Form save={save} onSubmit={submit}>
        <TextField label="Name" name="name" defaultValue={member.name} required maxLength={100} autoFocus />
        <FormActions save={save} kind="primary" label="Rename" />
      </Form>
    </Dialog>
  )
}
