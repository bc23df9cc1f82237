import { useState } from 'react'
import { call } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'
import { addressesIn } from './recipients.tsx'
import { refresh, TICKETS } from './use-live-desk.ts'

type ForwardProps = {
  agentId: string
  ticketNumber: number
  /** A message of the ticket; without it, all of them. */
  messageId?: string
}

/** A button that opens a form for sending messages of a ticket to somebody else. */
export function Forward(props: ForwardProps) {
  const can = useCan()
  const [isOpen, setIsOpen] = useState(false)
  if (!can('helpdesk:write')) return null
  const close = (): void => setIsOpen(false)
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Forward
      </Button>
      <Dialog
        title={props.messageId ? 'Forward the message' : 'Forward the ticket'}
        isOpen={isOpen}
        onClose={close}
      >
        <ForwardForm {...props} onDone={close} />
      </Dialog>
    </>
  )
}

function ForwardForm({ agentId, ticketNumber, messageId, onDone }: ForwardProps & { onDone: () => void }) {
  const member = useMember()
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const note = String(form.get('note') ?? '').trim()
      return call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/forward', {
        params: { agentId, ticketNumber },
        body: {
          to: addressesIn(String(form.get('to') ?? '')),
          ...(note && { note }),
          ...(messageId && { messageId }),
          ...(member && { authorId: member.id }),
        },
      })
    },
    onSuccess: () => {
      tell('done', 'It is on its way. The customer of the ticket stays the same.')
      refresh(TICKETS)
      onDone()
    },
  })
  const submit = (fields: FormData): void => send.mutate(fields)
  return (
    <Form save={send} onSubmit={submit}>
      <TextField
        label="To"
        name="to"
        placeholder="bob@example.com"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <TextArea
        label="Note"
        name="note"
        rows={4}
        maxLength={10_000}
        hint="It stands above what is forwarded. Files are attached."
      />
      <FormActions save={send} kind="primary" label="Forward it" />
    </Form>
  )
}
