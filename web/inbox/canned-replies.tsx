import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, reading } from '../app/api.ts'
import { useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { Plus, Settings2, Trash2 } from '../ui/icons.ts'
import { Menu } from '../ui/menu.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './composer.module.css'
import { refresh } from './use-live-desk.ts'

const PATH = '/agents/{agentId}/helpdesk/canned-replies'

type CannedProps = {
  agentId: string
  ticketNumber: number
  /** The text of the field, to be saved as a canned reply. */
  text: string
  onFilled: (text: string) => void
}

/** A menu of canned replies, which are also created and deleted here. */
export function CannedReplies({ agentId, ticketNumber, text, onFilled }: CannedProps) {
  const member = useMember()
  const [open, setOpen] = useState<'new' | 'all' | null>(null)
  const { data = [] } = useQuery(reading(PATH, { params: { agentId } }))
  const fill = useMutation({
    mutationFn: (cannedReplyId: string) =>
      call('POST', `${PATH}/{cannedReplyId}/fill`, {
        params: { agentId, cannedReplyId },
        body: { ticketNumber, ...(member ? { authorId: member.id } : {}) },
      }),
    onSuccess: ({ content, missing }) => {
      onFilled(content)
      if (missing.length > 0) tell('problem', `Not known for this customer: ${missing.join(', ')}.`)
    },
  })
  const close = () => setOpen(null)
  return (
    <>
      <Menu
        label="Canned replies"
        choices={[
          ...data.map(({ id, name }) => ({ id, label: name, onChoose: () => fill.mutate(id) })),
          { id: 'new', label: 'New canned reply', icon: Plus, onChoose: () => setOpen('new') },
          ...(data.length > 0
            ? [
                {
                  id: 'all',
                  label: 'Manage canned replies',
                  icon: Settings2,
                  onChoose: () => setOpen('all'),
                },
              ]
            : []),
        ]}
      />
      <Dialog title="New canned reply" isOpen={open === 'new'} onClose={close}>
        <NewReply agentId={agentId} text={text} onDone={close} />
      </Dialog>
      <Dialog title="Canned replies" isOpen={open === 'all'} onClose={close}>
        <ul className={classes.cannedReplies}>
          {data.map((reply) => (
            <CannedReply key={reply.id} agentId={agentId} {...reply} />
          ))}
        </ul>
      </Dialog>
    </>
  )
}

function NewReply({ agentId, text, onDone }: { agentId: string; text: string; onDone: () => void }) {
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (body: { name: string; content: string }) =>
      call('POST', PATH, { params: { agentId }, body }),
    onSuccess: () => {
      refresh(PATH)
      onDone()
    },
  })
  const submit = (fields: FormData): void =>
    make.mutate({ name: String(fields.get('name')), content: String(fields.get('content')) })
  return (
    <Form save={make} onSubmit={submit}>
      <TextField label="Name" name="name" maxLength={100} required autoFocus />
      <TextArea
        label="Text"
        name="content"
        rows={6}
        maxLength={10_000}
        required
        defaultValue={text}
        hint="The whole team can send it to anybody: leave out what is only for this customer. {{customer.name}}, {{ticket.number}} and {{author.name}} are filled in for each ticket."
      />
      <FormActions save={make} kind="primary" label="Keep the reply" />
    </Form>
  )
}

type CannedReplyProps = { agentId: string; id: string; name: string; content: string }

function CannedReply({ agentId, id, name, content }: CannedReplyProps) {
  const remove = useMutation({
    mutationFn: () => call('DELETE', `${PATH}/{cannedReplyId}`, { params: { agentId, cannedReplyId: id } }),
    onSuccess: () => {
      refresh(PATH)
      tell('done', `“${name}” was deleted.`, {
        label: 'Undo',
        run: () =>
          void call('POST', PATH, { params: { agentId }, body: { name, content } }).then(() => refresh(PATH)),
      })
    },
  })
  return (
    <li>
      <div>
        <strong>{name}</strong>
        <p>{content}</p>
      </div>
      <IconButton
        icon={Trash2}
        label={`Delete ${name}`}
        disabled={remove.isPending}
        onClick={() => remove.mutate()}
      />
    </li>
  )
}
