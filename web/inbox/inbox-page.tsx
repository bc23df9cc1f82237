import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAgentId, useCan } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { useParameters } from '../app/use-parameters.ts'
import { readingUnreadable } from '../deploy/unreadable.tsx'
import { IconButton } from '../ui/button.tsx'
import { plural } from '../ui/format.ts'
import { Bell, BellOff, Inbox as InboxIcon } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { isSoundOn, turnSound } from './chime.ts'
import { HeldMails } from './held-mails.tsx'
import classes from './inbox.module.css'
import { NewMail } from './new-mail.tsx'
import { Presence } from './presence.tsx'
import { useSeen } from './seen.ts'
import { TicketFilters } from './ticket-filters.tsx'
import { ticketKeys } from './ticket-keys.ts'
import { TicketList } from './ticket-list.tsx'
import { TicketPane } from './ticket-pane.tsx'
import { useLiveDesk } from './use-live-desk.ts'
import { type ListSearch, useTickets } from './use-tickets.ts'
import { useWaiting } from './use-waiting.ts'
import type { View } from './views.ts'

type Search = ListSearch & { ticket?: string | undefined }

const EMPTY: Record<View, [title: string, text: string]> = {
  mine: ['Nothing is yours', 'Choose a ticket under Unassigned, and press a to take it.'],
  unassigned: ['Every ticket has somebody', 'New tickets come in here by themselves.'],
  mentions: ['Nobody has mentioned you', 'A note with @ and your name brings its ticket here.'],
  open: ['Nobody is waiting', 'New tickets come in here by themselves.'],
  snoozed: ['Nothing is snoozed', 'Choose Snooze at a ticket, and it returns at the time that you say.'],
  spam: ['Nothing is spam', 'The button Spam of a ticket brings it here.'],
  solved: ['Nothing is solved yet', 'Press e on a ticket to solve it.'],
}

/** The inbox: lists the tickets of an agent and shows the selected one. */
export function InboxPage() {
  const agentId = useAgentId()
  const { shown: search, latest, change } = useParameters<Search>()
  const { view = 'open', ticket, query } = search
  const isLive = useLiveDesk(agentId)
  const { list, rows, loadMore } = useTickets(agentId, search)
  const seen = useSeen(agentId)
  const { unread } = seen
  useWaiting(agentId, unread)
  const open = Number(ticket) || null
  const placeOf = (number: number | null): number =>
    rows.findIndex(({ ticketNumber }) => ticketNumber === number)
  const step = (by: number): void => {
    const at = placeOf(Number(latest().ticket))
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    // Only the first ticket gets a history entry of its own, so that Back leads to the list.
    if (next) void change({ ticket: String(next.ticketNumber) }, at !== -1)
    if (at + by >= rows.length - 3) loadMore()
  }
  useShortcuts([
    { keys: 'j', does: 'Next ticket', group: 'Inbox', run: () => step(1) },
    { keys: 'k', does: 'Ticket before', group: 'Inbox', run: () => step(-1) },
    {
      keys: '/',
      does: 'Search',
      group: 'Inbox',
      run: () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
    },
  ])
  const onSolved = (): void => {
    const at = placeOf(open)
    const next = rows[at + 1] ?? rows[at - 1]
    if (at !== -1 && next && view !== 'solved' && !query)
      void change({ ticket: String(next.ticketNumber) }, true)
  }
  const [title, text] = EMPTY[view]
  return (
    <div className={`${classes.desk} ${open ? classes.reading : ''}`}>
      {/* On a phone, the open ticket takes the place of the list, but the page keeps its heading. */}
      <h1 className="visually-hidden">Inbox</h1>
      <HeldMails agentId={agentId} />
      <section className={classes.list} aria-label="Tickets">
        <InboxHead agentId={agentId} unread={unread} isLive={isLive} />
        <UnreadableNote agentId={agentId} />
        <TicketFilters agentId={agentId} search={search} onChange={change} />
        <Loaded<unknown> of={list} lines={8}>
          {() =>
            rows.length === 0 ? (
              <Empty icon={InboxIcon} title={query ? 'No ticket matches' : title}>
                {query ? 'Search for a name, a subject or a number.' : text}
              </Empty>
            ) : (
              <TicketList
                rows={rows}
                open={open}
                isUnread={seen.isUnread}
                onOpen={(ticketNumber) => void change({ ticket: String(ticketNumber) })}
                onEnd={loadMore}
              />
            )
          }
        </Loaded>
      </section>
      {open ? (
        <TicketPane
          key={open}
          agentId={agentId}
          ticketNumber={open}
          onSeen={seen.note}
          onSolved={onSolved}
          onBack={() => void change({ ticket: undefined })}
        />
      ) : (
        <NoTicket />
      )}
    </div>
  )
}

type InboxHeadProps = { agentId: string; unread: number; isLive: boolean }

function InboxHead({ agentId, unread, isLive }: InboxHeadProps) {
  return (
    <header className={classes.head}>
      <span className={classes.heading} aria-hidden>
        Inbox
      </span>
      {unread > 0 && <Badge tone="warning">{unread} unread</Badge>}
      {!isLive && <Badge tone="danger">Not live</Badge>}
      <span className={classes.space} />
      <NewMail agentId={agentId} />
      <Presence agentId={agentId} />
      <SoundSwitch />
    </header>
  )
}

/** Messages that nobody could read are in no ticket, unless their sender is known. */
function UnreadableNote({ agentId }: { agentId: string }) {
  const can = useCan()
  const found = useQuery({ ...readingUnreadable(agentId), enabled: can('messaging:read') })
  const messages = found.data?.data.filter(({ isMessage }) => isMessage) ?? []
  if (messages.length === 0) return null
  return (
    <p className={classes.unreadable} role="status">
      {plural(messages.length, 'message')} could not be read.{' '}
      <Link to="/agents/$agentId/deploy" params={{ agentId }} search={{ tab: 'messaging' } as never}>
        What to do
      </Link>
    </p>
  )
}

function NoTicket() {
  const can = useCan()
  useShortcuts(can('helpdesk:write') ? ticketKeys() : [])
  return (
    <div className={classes.none}>
      <Empty icon={InboxIcon} title="Choose a ticket">
        <kbd>j</kbd> and <kbd>k</kbd> go through the list, <kbd>?</kbd> shows every key.
      </Empty>
    </div>
  )
}

function SoundSwitch() {
  const [isOn, setIsOn] = useState(isSoundOn)
  return (
    <IconButton
      icon={isOn ? Bell : BellOff}
      label="Sound for new messages"
      aria-pressed={isOn}
      onClick={() => {
        turnSound(!isOn)
        setIsOn(!isOn)
      }}
    />
  )
}
