import { useState } from 'react'
import { call } from '../app/api.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Actions, Check, Form } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'
import { refresh, TICKETS } from './use-live-desk.ts'

type MarkSpamProps = {
  params: { agentId: string; ticketNumber: number }
  email: string | null
  onDone: () => void
}

/** A button that marks a ticket as spam, with the question whether its sender is blocked. */
export function MarkSpam({ params, email, onDone }: MarkSpamProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [blockSender, setBlockSender] = useState(false)
  const mark = useMutation({
    mutationFn: () =>
      call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/spam', {
        params,
        body: { blockSender },
      }),
    onSuccess: () => {
      setIsOpen(false)
      tell('done', 'The ticket is marked as spam.')
      refresh(TICKETS)
      onDone()
    },
  })
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Spam
      </Button>
      <Dialog title="Mark the ticket as spam?" isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <Form save={mark} onSubmit={() => mark.mutate()}>
          <p>It is cancelled and leaves the inbox.</p>
          {email && (
            <Check
              label={`Block ${email}`}
              hint="Their emails are stored, but nobody answers or sees them. The page of the mailbox lists blocked senders."
              checked={blockSender}
              onChange={({ target }) => setBlockSender(target.checked)}
            />
          )}
          <Actions>
            <Button kind="primary" type="submit" pending={mark.isPending}>
              Mark as spam
            </Button>
          </Actions>
        </Form>
      </Dialog>
    </>
  )
}
