import { useMutation, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type RefObject, useState } from 'react'
import { call, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMember } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { Menu } from '../ui/menu.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './inbox.module.css'

export type Mode = 'reply' | 'note'
type ComposerProps = {
  agentId: string
  ticketNumber: number
  mode: Mode
  onMode: (mode: Mode) => void
  field: RefObject<HTMLTextAreaElement | null>
}

/** The form for a reply to the customer or for a note that only the team can read. */
export function Composer({ agentId, ticketNumber, mode, onMode, field }: ComposerProps) {
  const params = { agentId, ticketNumber }
  const member = useMember()
  const [text, setText] = useState('')
  const [isPreview, setIsPreview] = useState(false)
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: async (content: string) => {
      const author = { content, authorId: member?.id }
      if (mode === 'note') {
        await call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/notes', {
          params,
          body: author,
        })
      } else {
        await call('POST', '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages', {
          params,
          body: { type: 'reply', ...author },
        })
      }
    },
    onSuccess: () => {
      setText('')
      setIsPreview(false)
      void queries.invalidateQueries({
        predicate: ({ queryKey: [key] }) =>
          typeof key === 'string' && key.startsWith('/agents/{agentId}/helpdesk/tickets'),
      })
    },
    onError: (error) => tell('problem', sentenceOf(error)),
  })
  const submit = (): void => {
    if (text.trim() !== '' && !send.isPending) send.mutate(text)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) submit()
    else if (event.key === 'Escape') field.current?.blur()
  }
  return (
    <div className={`${classes.composer} ${mode === 'note' ? classes.noting : ''}`}>
      <div className={classes.modes}>
        <button type="button" aria-pressed={mode === 'reply'} onClick={() => onMode('reply')}>
          Reply
        </button>
        <button type="button" aria-pressed={mode === 'note'} onClick={() => onMode('note')}>
          Note
        </button>
        <button type="button" aria-pressed={isPreview} onClick={() => setIsPreview(!isPreview)}>
          Preview
        </button>
      </div>
      {isPreview ? (
        <div className={classes.preview}>
          {text ? <Markdown text={text} /> : <p>Nothing is written yet.</p>}
        </div>
      ) : (
        <textarea
          ref={field}
          aria-label={mode === 'note' ? 'Note for the team' : 'Reply to the customer'}
          placeholder={
            mode === 'note' ? 'Only the team reads this. @name tells somebody.' : 'Reply. Markdown works.'
          }
          rows={3}
          dir="auto"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={onKeyDown}
        />
      )}
      <div className={classes.sending}>
        <CannedReplies
          {...params}
          onFilled={(filled) => setText((now) => (now ? `${now}\n\n${filled}` : filled))}
        />
        <Button small kind="primary" pending={send.isPending} disabled={text.trim() === ''} onClick={submit}>
          {mode === 'note' ? 'Add the note' : 'Send the reply'}
        </Button>
      </div>
    </div>
  )
}

type CannedProps = { agentId: string; ticketNumber: number; onFilled: (text: string) => void }

function CannedReplies({ agentId, ticketNumber, onFilled }: CannedProps) {
  const member = useMember()
  const { data } = useQuery(reading('/agents/{agentId}/helpdesk/canned-replies', { params: { agentId } }))
  const fill = useMutation({
    mutationFn: (cannedReplyId: string) =>
      call('POST', '/agents/{agentId}/helpdesk/canned-replies/{cannedReplyId}/fill', {
        params: { agentId, cannedReplyId },
        body: { ticketNumber, authorId: member?.id },
      }),
    onSuccess: ({ content, missing }) => {
      onFilled(content)
      if (missing.length > 0) tell('problem', `Not known for this customer: ${missing.join(', ')}.`)
    },
  })
  if (!data || data.length === 0) return <span />
  return (
    <Menu
      label="Prepared replies"
      choices={data.map(({ id, name }) => ({ id, label: name, onChoose: () => fill.mutate(id) }))}
    />
  )
}
