import { useMutation, useQuery } from '@tanstack/react-query'
import { ArrowLeft, CircleCheck, PanelRight, RotateCcw } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { call, reading, type Ticket, type TicketMessage } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { MessageView } from '../conversations/message-view.tsx'
import { readingConversation } from '../conversations/read-conversation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Markdown } from '../ui/markdown.tsx'
import { Badge } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { Composer, type Mode } from './composer.tsx'
import classes from './inbox.module.css'
import { type TicketChange, TicketSide } from './ticket-side.tsx'
import { CATEGORY, nameOf } from './ticket-words.ts'

type TicketPaneProps = {
  agentId: string
  ticketNumber: number
  onSeen: (ticket: Ticket) => void
  onBack: () => void
}

/** Shows a ticket: its messages, the reply form, and its details at the side. */
export function TicketPane({ agentId, ticketNumber, onSeen, onBack }: TicketPaneProps) {
  const params = { agentId, ticketNumber }
  const can = useCan()
  const [mode, setMode] = useState<Mode>('reply')
  const [showsSide, setShowsSide] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const ticket = useQuery(reading('/agents/{agentId}/helpdesk/tickets/{ticketNumber}', { params }))
  const data = ticket.data
  useEffect(() => {
    if (data) onSeen(data)
  }, [data, onSeen])
  const mayWrite = can('helpdesk:write')
  const change = useChange(params)
  const isOver = data?.statusCategory === 'closed' || data?.statusCategory === 'cancelled'
  const write = (next: Mode) => () => {
    setMode(next)
    field.current?.focus()
  }
  useShortcuts(
    mayWrite
      ? [
          {
            keys: 'e',
            does: 'Solve, or open again',
            group: 'Inbox',
            run: () => change.mutate({ statusCategory: isOver ? 'on_you' : 'closed' }),
          },
          { keys: 'r', does: 'Reply', group: 'Inbox', run: write('reply') },
          { keys: 'n', does: 'Write a note', group: 'Inbox', run: write('note') },
          {
            keys: 'a',
            does: 'Assign',
            group: 'Inbox',
            run: () => document.querySelector<HTMLElement>('#assignee')?.focus(),
          },
        ]
      : [],
  )
  return (
    <>
      <section className={classes.reader} aria-label="Ticket">
        <Loaded of={ticket} lines={8}>
          {(shown) => (
            <>
              <header className={classes.readerHead}>
                <span className={classes.back}>
                  <IconButton icon={ArrowLeft} label="Back to the list" onClick={onBack} />
                </span>
                <div className={classes.title}>
                  <h2 dir="auto">{shown.subject ?? 'Without a subject'}</h2>
                  <p>
                    <Badge tone={CATEGORY[shown.statusCategory][0]}>
                      {CATEGORY[shown.statusCategory][1]}
                    </Badge>{' '}
                    {nameOf(shown.customer)} · #{shown.ticketNumber} · <Ago at={shown.createdAt} />
                  </p>
                </div>
                {mayWrite && (
                  <Button
                    small
                    icon={isOver ? RotateCcw : CircleCheck}
                    pending={change.isPending}
                    onClick={() => change.mutate({ statusCategory: isOver ? 'on_you' : 'closed' })}
                  >
                    {isOver ? 'Open again' : 'Solve'}
                  </Button>
                )}
                <span className={classes.sideButton}>
                  <IconButton icon={PanelRight} label="Details" onClick={() => setShowsSide(true)} />
                </span>
              </header>
              <Thread ticket={shown} {...params} />
              {mayWrite && <Composer {...params} mode={mode} onMode={setMode} field={field} />}
              <Dialog title="Details" drawer="right" isOpen={showsSide} onClose={() => setShowsSide(false)}>
                <TicketSide agentId={agentId} ticket={shown} onChange={change.mutate} />
              </Dialog>
            </>
          )}
        </Loaded>
      </section>
      <aside className={classes.side} aria-label="Details">
        {data && (
          <TicketSide agentId={agentId} ticket={data} onChange={change.mutate} assigneeId="assignee" />
        )}
      </aside>
    </>
  )
}

/** Changes a ticket. The change is shown at once and reverted if the request fails. */
function useChange(params: { agentId: string; ticketNumber: number }) {
  const path = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}'
  const { queryKey } = reading(path, { params })
  return useMutation({
    mutationFn: (body: TicketChange) => call('PATCH', path, { params, body }),
    onMutate: (body) => {
      const before = queries.getQueryData<Ticket>(queryKey)
      if (before) queries.setQueryData(queryKey, { ...before, ...body })
      return before
    },
    onSuccess: (_ticket, { statusCategory }) => {
      if (statusCategory === 'closed') tell('done', 'Solved.')
    },
    onError: (_error, _body, before) => queries.setQueryData(queryKey, before),
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey: [key] }) =>
          typeof key === 'string' && key.startsWith('/agents/{agentId}/helpdesk/tickets'),
      }),
  })
}

function Thread({
  agentId,
  ticketNumber,
  ticket,
}: {
  agentId: string
  ticketNumber: number
  ticket: Ticket
}) {
  const end = useRef<HTMLDivElement>(null)
  const { conversationId } = ticket
  const earlier = useQuery({
    ...readingConversation(agentId, conversationId ?? ''),
    enabled: conversationId !== null,
  })
  const messages = useQuery(
    reading('/agents/{agentId}/helpdesk/tickets/{ticketNumber}/messages', {
      params: { agentId, ticketNumber },
      query: { limit: 100, types: 'reply,note,event' },
    }),
  )
  const count = messages.data?.data.length
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new messages scroll the view
  useEffect(() => {
    // In newer browsers, scrollIntoView returns a promise, which must not become the effect's cleanup.
    void end.current?.scrollIntoView({ block: 'end' })
  }, [count, earlier.data])
  const first = messages.data?.data[0]?.createdAt
  const before = (earlier.data?.messages ?? []).filter(
    ({ createdAt }) => !first || createdAt * 1000 < new Date(first).getTime() - 1_000,
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section className={classes.thread} aria-label="Messages" tabIndex={0}>
      {before.length > 0 && (
        <details className={classes.earlier}>
          <summary>What was said to the agent before ({before.length})</summary>
          {before.map((message) => (
            <MessageView key={message.id} message={message} />
          ))}
        </details>
      )}
      {ticket.description && <Markdown text={ticket.description} />}
      <Loaded of={messages}>
        {({ data }) => (
          <>
            {data.map((message) => (
              <TicketEntry key={message.id} message={message} />
            ))}
          </>
        )}
      </Loaded>
      <div ref={end} />
    </section>
  )
}

function TicketEntry({ message }: { message: TicketMessage }) {
  const { type, sender, contentText, content, createdAt, attachments, metadata } = message
  const who = sender?.name ?? sender?.email ?? (sender?.type === 'customer' ? 'Visitor' : 'Parley')
  if (type === 'event') {
    return (
      <p className={classes.event}>
        {contentText ?? content ?? eventWords(metadata)} · <Ago at={createdAt} />
      </p>
    )
  }
  const kind = type === 'note' ? classes.note : sender?.type === 'customer' ? classes.customer : classes.ours
  const { delivery } = (metadata ?? {}) as { delivery?: { status: string; error?: string } }
  return (
    <article
      className={`${classes.entry} ${kind}`}
      aria-label={`${type === 'note' ? 'Note' : 'Message'} of ${who}`}
    >
      <header>
        <strong>{who}</strong> <Ago at={createdAt} />
        {type === 'note' && <Badge tone="warning">Note</Badge>}
        {delivery?.status === 'failed' && <Badge tone="danger">Not delivered: {delivery.error}</Badge>}
      </header>
      <Markdown text={contentText ?? content ?? ''} />
      {attachments.length > 0 && (
        <ul>
          {attachments.map(({ name, url }) => (
            <li key={url}>
              <a href={url}>{name}</a>
            </li>
          ))}
        </ul>
      )}
    </article>
  )
}

type EventData = {
  eventType?: string
  statusTo?: keyof typeof CATEGORY
  assignedTo?: { name?: string | null } | null
  doneBy?: { name?: string | null } | null
  priorityTo?: string
}

/** Describes an event of a ticket in a few words. */
function eventWords(metadata: unknown): string {
  const { eventType, statusTo, assignedTo, doneBy, priorityTo } = (metadata ?? {}) as EventData
  const by = doneBy?.name ? ` by ${doneBy.name}` : ''
  switch (eventType) {
    case 'status_change':
      return `${statusTo ? CATEGORY[statusTo][1] : 'Status changed'}${by}`
    case 'assign':
      return assignedTo?.name ? `Assigned to ${assignedTo.name}${by}` : `Assigned to nobody${by}`
    case 'priority_changed':
      return `Priority ${priorityTo ?? 'changed'}${by}`
    default:
      return `${(eventType ?? 'changed').replaceAll('_', ' ')}${by}`
  }
}
