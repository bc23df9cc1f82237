import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call, reading } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { Mail } from '../ui/icons.ts'
import { tell } from '../ui/toast.tsx'
import { addressesIn } from './recipients.tsx'
import { refresh, TICKETS } from './use-live-desk.ts'

type NewMailProps = { agentId: string; onOpened: (ticketNumber: number) => void }

/** A button that opens a form for a mail to somebody. It is only there if the agent has a mailbox. */
export function NewMail({ agentId, onOpened }: NewMailProps) {
  const can = useCan()
  const [isOpen, setIsOpen] = useState(false)
  const mayWrite = can('helpdesk:write') && can('messaging:read')
  const channels = useQuery({
    ...reading('/agents/{agentId}/channels', { params: { agentId } }),
    enabled: mayWrite,
  })
  if (!mayWrite || !channels.data?.email) return null
  const done = (ticketNumber: number): void => {
    setIsOpen(false)
    onOpened(ticketNumber)
  }
  return (
    <>
      <IconButton icon={Mail} label="New email" onClick={() => setIsOpen(true)} />
      <Dialog title="New email" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <MailForm agentId={agentId} onOpened={done} />
      </Dialog>
    </>
  )
}

function MailForm({ agentId, onOpened }: NewMailProps) {
  const member = useMember()
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const text = (name: string): string => String(form.get(name) ?? '')
      return call('POST', '/agents/{agentId}/helpdesk/mails', {
        params: { agentId },
        body: {
          to: addressesIn(text('to')),
          cc: addressesIn(text('cc')),
          bcc: addressesIn(text('bcc')),
          subject: text('subject'),
          content: text('content'),
          ...(member && { authorId: member.id }),
        },
      })
    },
    onSuccess: ({ ticketNumber }) => {
      tell('done', 'The email is on its way. Answers come to its ticket.')
      refresh(TICKETS)
      onOpened(ticketNumber)
    },
  })
  const submit = (fields: FormData): void => send.mutate(fields)
  return (
    <Form save={send} onSubmit={submit}>
      <TextField
        label="To"
        name="to"
        placeholder="ann@example.com"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <TextField label="Cc" name="cc" autoCapitalize="none" spellCheck={false} />
      <TextField label="Bcc (only your team sees it)" name="bcc" autoCapitalize="none" spellCheck={false} />
      <TextField label="Subject" name="subject" maxLength={500} required />
      <TextArea label="Text (Markdown supported)" name="content" rows={8} maxLength={10_000} required />
      <FormActions save={send} kind="primary" label="Send the email" />
    </Form>
  )
}
