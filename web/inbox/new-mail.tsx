import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { useCan, useMember } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FilePicker, Form, FormActions, TextArea, TextField } from '../ui/field.tsx'
import { Mail, Paperclip } from '../ui/icons.ts'
import { AttachmentList } from './attachment-list.tsx'
import type { Attached } from './drafts.ts'
import { HELD_MAILS, type HeldMail } from './held-mail.ts'
import { HOLD_SECONDS } from './held-replies.tsx'
import { AddressFields, peopleOf } from './recipients.tsx'
import { useAttachments } from './use-attachments.ts'
import { refresh } from './use-live-desk.ts'

/** A button that opens a form for a mail to somebody. It is only there if the agent has a mailbox. */
export function NewMail({ agentId }: { agentId: string }) {
  const can = useCan()
  const [isOpen, setIsOpen] = useState(false)
  const mayWrite = can('helpdesk:write') && can('messaging:read')
  const channels = useQuery({
    ...reading('/agents/{agentId}/channels', { params: { agentId } }),
    enabled: mayWrite,
  })
  if (!mayWrite || !channels.data?.email) return null
  return (
    <>
      <IconButton icon={Mail} label="New email" onClick={() => setIsOpen(true)} />
      <NewMailDialog agentId={agentId} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

type DialogProps = { agentId: string; isOpen: boolean; onClose: () => void; start?: HeldMail }

/** `start` is a mail that was taken back. */
export const NewMailDialog = ({ isOpen, onClose, ...rest }: DialogProps) => (
  <Dialog title="New email" isOpen={isOpen} onClose={onClose}>
    <MailForm {...rest} onDone={onClose} />
  </Dialog>
)

type MailFormProps = { agentId: string; start?: HeldMail | undefined; onDone: () => void }

function MailForm({ agentId, start, onDone }: MailFormProps) {
  const member = useMember()
  const [files, setFiles] = useState<Attached[]>(start?.attachments ?? [])
  const { sending, add, drop } = useAttachments(agentId, files, (file) => setFiles((all) => [...all, file]))
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) =>
      call('POST', HELD_MAILS, {
        params: { agentId },
        body: {
          ...peopleOf(form),
          ...(start?.name !== undefined && { name: start.name }),
          subject: String(form.get('subject') ?? ''),
          content: String(form.get('content') ?? ''),
          attachments: files.map(({ id }) => id),
          holdSeconds: HOLD_SECONDS,
          ...(member && { authorId: member.id }),
        },
      }),
    onSuccess: () => {
      refresh(HELD_MAILS)
      onDone()
    },
  })
  const submit = (fields: FormData): void => send.mutate(fields)
  return (
    <Form save={send} more={files} onSubmit={submit}>
      <AddressFields start={start} />
      <TextField label="Subject" name="subject" maxLength={500} defaultValue={start?.subject} required />
      <TextArea
        label="Text (Markdown supported)"
        name="content"
        rows={8}
        maxLength={10_000}
        defaultValue={start?.content}
        required
      />
      <AttachmentList
        attached={files}
        sending={sending}
        onRemove={(id) => setFiles((all) => all.filter((file) => file.id !== id))}
        onDrop={drop}
      />
      {/* A mail is not sent before all files chosen for it have been uploaded. */}
      <FormActions save={send} kind="primary" label="Send the email" disabled={sending.length > 0}>
        <AttachButton onPick={add} />
      </FormActions>
    </Form>
  )
}

function AttachButton({ onPick }: { onPick: (files: File[]) => void }) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button kind="quiet" icon={Paperclip} onClick={() => chooser.current?.click()}>
        Attach files
      </Button>
      <FilePicker ref={chooser} label="Files to attach" onPick={onPick} />
    </>
  )
}
