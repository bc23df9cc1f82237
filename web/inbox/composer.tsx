import { type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { call } from '../app/api.ts'
import { useMember } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { FilePicker } from '../ui/field.tsx'
import { focusAround } from '../ui/focus-around.ts'
import { Paperclip } from '../ui/icons.ts'
import { Markdown } from '../ui/markdown.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { AttachmentList } from './attachment-list.tsx'
import { CannedReplies } from './canned-replies.tsx'
import classes from './composer.module.css'
import { type Draft, keepDraft, readDraft } from './drafts.ts'
import { useProposed } from './held-answer.tsx'
import { HELD, HeldReplies, type HeldReply, HOLD_SECONDS } from './held-replies.tsx'
import desk from './inbox.module.css'
import { MentionField } from './mention-field.tsx'
import { Recipients, requestOf, useRecipients } from './recipients.tsx'
import { ticketKeys } from './ticket-keys.ts'
import { useAttachments } from './use-attachments.ts'
import { refresh, TICKETS } from './use-live-desk.ts'

const WORDS = {
  note: { label: 'Note for the team', placeholder: 'Visible to your team only. @ to mention someone.' },
  reply: { label: 'Reply to the customer', placeholder: 'Write a reply (Markdown supported)' },
}

type ComposerProps = { agentId: string; ticketNumber: number }

/** The draft with a reply that was taken back; what was written meanwhile stays below. */
const takenBack = (
  { content, attachments, to = [], cc = [], bcc = [], heldAnswerId }: HeldReply,
  { text, files = [] }: Draft,
): Partial<Draft> => ({
  mode: 'reply',
  text: [content, text].filter(Boolean).join('\n\n'),
  files: [...attachments, ...files],
  heldAnswerId,
  people: to.length > 0 ? { to: to.join(', '), cc: cc.join(', '), bcc: bcc.join(', ') } : null,
})

/** The form for a reply to the customer or for a note that only the team can read. */
export function Composer({ agentId, ticketNumber }: ComposerProps) {
  const params = { agentId, ticketNumber }
  const field = useRef<HTMLTextAreaElement>(null)
  const section = useRef<HTMLElement>(null)
  const { draft, latest, change } = useDraft(agentId, ticketNumber, field)
  const [isPreview, setIsPreview] = useState(false)
  const { mode, text, files = [], people = null } = draft
  const { sending, add, drop } = useAttachments(agentId, files, (file) =>
    change({ files: [...(latest.current.files ?? []), file] }),
  )
  // A chat shows a reply at once; what leaves the service can be taken back for a moment.
  const isHeld = useRecipients(params).data?.channel != null
  const send = useSend(params, isHeld, (sent) => {
    change(sent === 'note' ? { text: '' } : { text: '', files: [], people: null, heldAnswerId: undefined })
    setIsPreview(false)
    leave()
  })
  /** Returns the keyboard focus to the inbox. */
  const leave = (): void => focusAround(section.current?.parentElement)
  // A reply is not sent before all files chosen for it have been uploaded.
  const isReady = text.trim() !== '' && (mode === 'note' || sending.length === 0)
  const submit = (): void => {
    if (isReady && !send.isPending) send.mutate(draft)
  }
  const write = (next: Draft['mode']): void => {
    // The field does not exist while the preview is shown.
    flushSync(() => {
      change({ mode: next })
      setIsPreview(false)
    })
    field.current?.focus()
  }
  useShortcuts(ticketKeys({ r: () => write('reply'), n: () => write('note') }))
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
    else if (event.key === 'Escape') leave()
  }
  const isNote = mode === 'note'
  return (
    <section
      ref={section}
      className={`${classes.composer} ${isNote ? classes.noting : ''}`}
      aria-label="Write"
    >
      <Modes
        isNote={isNote}
        isPreview={isPreview}
        onWrite={write}
        onPreview={() => setIsPreview(!isPreview)}
      />
      {!isNote && (
        <Recipients params={params} people={people} onChange={(next) => change({ people: next })} />
      )}
      {isPreview ? (
        <section className={classes.preview} aria-label="Preview">
          {text ? <Markdown text={text} /> : <p>Nothing is written yet.</p>}
        </section>
      ) : (
        <MentionField
          agentId={agentId}
          mentions={isNote}
          ref={field}
          {...WORDS[mode]}
          readOnly={send.isPending}
          value={text}
          onChange={(next) => change(next === '' ? { text: next, heldAnswerId: undefined } : { text: next })}
          onKeyDown={onKeyDown}
        />
      )}
      {!isNote && (
        <AttachmentList
          attached={files}
          sending={sending}
          onRemove={(id) => change({ files: files.filter((file) => file.id !== id) })}
          onDrop={drop}
        />
      )}
      {!isNote && (
        <HeldReplies
          params={params}
          onBack={(held) => {
            change(takenBack(held, latest.current))
            field.current?.focus()
          }}
        />
      )}
      <SendRow
        params={params}
        draft={draft}
        isReady={isReady}
        isPending={send.isPending}
        onFiles={add}
        onFilled={(filled) => change({ text: text ? `${text}\n\n${filled}` : filled })}
        onSubmit={submit}
      />
    </section>
  )
}

type ModesProps = {
  isNote: boolean
  isPreview: boolean
  onWrite: (mode: Draft['mode']) => void
  onPreview: () => void
}

function Modes({ isNote, isPreview, onWrite, onPreview }: ModesProps) {
  return (
    <div className={`${desk.choices} ${classes.modes}`}>
      <button type="button" aria-pressed={!isNote} onClick={() => onWrite('reply')}>
        Reply
      </button>
      <button type="button" aria-pressed={isNote} onClick={() => onWrite('note')}>
        Note
      </button>
      <button type="button" aria-pressed={isPreview} onClick={onPreview}>
        Preview
      </button>
    </div>
  )
}

async function sendDraft(
  params: ComposerProps,
  authorId: string | undefined,
  isHeld: boolean,
  { mode, text: content, files = [], people = null, heldAnswerId }: Draft,
): Promise<void> {
  const author = { content, ...(authorId !== undefined && { authorId }) }
  if (mode === 'note') {
    await call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/notes', { params, body: author })
    return
  }
  const body = {
    ...author,
    attachments: files.map(({ id }) => id),
    ...requestOf(people),
    ...(heldAnswerId === undefined ? {} : { heldAnswerId }),
  }
  if (isHeld) await call('POST', HELD, { params, body: { holdSeconds: HOLD_SECONDS, ...body } })
  else
    await call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages', {
      params,
      body: { type: 'reply', ...body },
    })
}

/** The draft of the ticket, which is kept in this browser. */
function useDraft(agentId: string, ticketNumber: number, field: RefObject<HTMLTextAreaElement | null>) {
  const [draft, setDraft] = useState(() => readDraft(agentId, ticketNumber))
  // An upload may finish after the text has changed.
  const latest = useRef(draft)
  const change = (part: Partial<Draft>): void => {
    latest.current = { ...latest.current, ...part }
    setDraft(latest.current)
    keepDraft(agentId, ticketNumber, latest.current)
  }
  useProposed(ticketNumber, ({ text, noteId }) => {
    change({
      mode: 'reply',
      text: [text, latest.current.text].filter(Boolean).join('\n\n'),
      heldAnswerId: noteId,
    })
    field.current?.focus()
  })
  return { draft, latest, change }
}

function useSend(params: ComposerProps, isHeld: boolean, onSent: (mode: Draft['mode']) => void) {
  const member = useMember()
  return useMutation({
    meta: { quiet: true },
    mutationFn: (draft: Draft) => sendDraft(params, member?.id, isHeld, draft),
    onSuccess: (_done, { mode }) => {
      onSent(mode)
      refresh(TICKETS)
    },
    onError: (error) => tell('problem', sentenceOf(error)),
  })
}

function AttachButton({ onPick }: { onPick: (files: File[]) => void }) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton icon={Paperclip} label="Attach files" onClick={() => chooser.current?.click()} />
      <FilePicker ref={chooser} label="Files to attach" onPick={onPick} />
    </>
  )
}

type SendRowProps = {
  params: ComposerProps
  draft: Draft
  isReady: boolean
  isPending: boolean
  onFiles: (files: File[]) => void
  onFilled: (text: string) => void
  onSubmit: () => void
}

function SendRow({ params, draft, isReady, isPending, onFiles, onFilled, onSubmit }: SendRowProps) {
  const isNote = draft.mode === 'note'
  return (
    <div className={classes.sending}>
      {!isNote && <AttachButton onPick={onFiles} />}
      <CannedReplies
        {...params}
        // A note is for the team alone.
        text={isNote ? '' : draft.text}
        onFilled={onFilled}
      />
      <kbd className={classes.sendKey}>{navigator.platform.startsWith('Mac') ? '⌘ ↵' : 'Ctrl ↵'}</kbd>
      <Button small kind="primary" pending={isPending} disabled={!isReady} onClick={onSubmit}>
        {isNote ? 'Add the note' : 'Send the reply'}
      </Button>
    </div>
  )
}
