import { useState } from 'react'
import { call } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form, FormActions, TextArea } from '../ui/field.tsx'
import { HELD_MAILS, type HeldMail } from './held-mail.ts'
import { HOLD_SECONDS } from './held-replies.tsx'
import { AddressFields, peopleOf } from './recipients.tsx'
import { refresh } from './use-live-desk.ts'

type ForwardProps = {
  agentId: string
  ticketNumber: number
  /** A message of the ticket; without it, all of them. */
  messageId?: string | undefined
}

/** A button that opens a form for sending messages of a ticket to somebody else. */
export function Forward(props: ForwardProps) {
  const can = useCan()
  const [isOpen, setIsOpen] = useState(false)
  if (!can('helpdesk:write')) return null
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Forward
      </Button>
      <ForwardDialog {...props} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

type ForwardDialogProps = ForwardProps & { isOpen: boolean; onClose: () => void; start?: HeldMail }

/** `start` is a forward that was taken back. */
export const ForwardDialog = ({ isOpen, onClose, ...props }: ForwardDialogProps) => (
  <Dialog
    title={props.messageId ? 'Forward the message' : 'Forward the ticket'}
    isOpen={isOpen}
    onClose={onClose}
  >
    <ForwardForm {...props} onDone={onClose} />
  </Dialog>
)

type ForwardFormProps = ForwardProps & { start?: HeldMail | undefined; onDone: () => void }

function ForwardForm({ agentId, ticketNumber, messageId, start, onDone }: ForwardFormProps) {
  const member = useMember()
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const note = String(form.get('note') ?? '').trim()
      return call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/held-forwards', {
        params: { agentId, ticketNumber },
        body: {
          ...peopleOf(form),
          ...(note && { note }),
          ...(messageId && { messageId }),
          holdSeconds: HOLD_SECONDS,
          ...(member && { authorId: member.id }),
        },
      })
    },
    onSuccess: () => {
      refresh(HELD_MAILS)
      onDone()
    },
  })
  const submit = (fields: FormData): void => send.mutate(fields)
  return (
    <Form save={send} onSubmit={submit}>
      <AddressFields start={start} />
      <TextArea
        label="Note"
        name="note"
        rows={4}
        maxLength={10_000}
        defaultValue={start?.content}
        hint="It stands above what is forwarded. Files are attached. The customer of the ticket stays the same."
      />
      <FormActions save={send} kind="primary" label="Forward it" />
    </Form>
  )
}
