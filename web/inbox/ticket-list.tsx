import { useState } from 'react'
import { Ago } from '../ui/ago.tsx'
import { moveByArrow } from '../ui/arrow-rows.ts'
import { formatPassed } from '../ui/format.ts'
import { Badge } from '../ui/page.tsx'
import classes from './ticket-list.module.css'
import { CATEGORY, channelName, nameOf } from './ticket-words.ts'

/** A ticket of the list; one that a search found has no more than the first part. */
type Row = {
  ticketNumber: number
  subject: string | null
  statusCategory: keyof typeof CATEGORY
  customer: { name: string | null; email: string | null; phoneNumber: string | null }
  channel: string
  priority: string
  createdAt: string
  lastMessageAt: string | null
  updatedAt: string
  wakesAt?: string
  description?: string | null
  lastMessage?: { text: string; author: 'customer' | 'agent' | 'system'; name: string | null } | null
  tags?: { id: string; name: string; color: string }[]
  waitingSince?: string | null
  dueAt?: string | null
}

/** The next page is loaded when the end of the list is this many pixels away. */
const AHEAD_PX = 800

type ListProps = {
  rows: Row[]
  open: number | null
  isUnread: (row: Row) => boolean
  onOpen: (ticketNumber: number) => void
  onEnd: () => void
}

export function TicketList({ rows, open, isUnread, onOpen, onEnd }: ListProps) {
  const [focused, setFocused] = useState<number | null>(null)
  const entry = [focused, open].find((one) => rows.some(({ ticketNumber }) => ticketNumber === one))
  const tabStop = entry ?? rows[0]?.ticketNumber
  return (
    <ul
      className={classes.rows}
      onKeyDown={moveByArrow}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        if (scrollHeight - scrollTop - clientHeight < AHEAD_PX) onEnd()
      }}
    >
      {rows.map((row) => (
        <TicketRow
          key={row.ticketNumber}
          row={row}
          isOpen={row.ticketNumber === open}
          isUnread={isUnread(row)}
          isTabStop={row.ticketNumber === tabStop}
          onFocus={() => setFocused(row.ticketNumber)}
          onOpen={() => onOpen(row.ticketNumber)}
        />
      ))}
    </ul>
  )
}

type RowProps = {
  row: Row
  isOpen: boolean
  isUnread: boolean
  isTabStop: boolean
  onFocus: () => void
  onOpen: () => void
}

function TicketRow({ row, isOpen, isUnread, isTabStop, onFocus, onOpen }: RowProps) {
  const [tone, label] = CATEGORY[row.statusCategory]
  const isUrgent = row.priority === 'urgent' || row.priority === 'high'
  return (
    <li
      ref={(node) => {
        // The keys j and k may select a row that is out of view.
        if (isOpen) void node?.scrollIntoView({ block: 'nearest' })
      }}
    >
      <button
        type="button"
        className={`${classes.row} ${isUnread ? classes.unread : ''}`}
        aria-current={isOpen}
        tabIndex={isTabStop ? 0 : -1}
        onFocus={onFocus}
        onClick={onOpen}
      >
        <span className={classes.rowLine}>
          <strong dir="auto">{nameOf(row.customer)}</strong>
          <small>
            <Ago at={row.lastMessageAt ?? row.updatedAt} />
          </small>
        </span>
        <span className={classes.subject} dir="auto">
          {row.subject ?? 'Without a subject'}
        </span>
        <LastWords row={row} />
        <span className={classes.marks}>
          <Badge tone={tone}>{label}</Badge>
          <Times row={row} />
          {isUrgent && <Badge tone="danger">{row.priority === 'urgent' ? 'Urgent' : 'High'}</Badge>}
          {isUnread && <span className={classes.dot} role="img" aria-label="Unread" />}
          <small>
            #{row.ticketNumber} · {channelName(row.channel)}
          </small>
        </span>
        {row.tags && row.tags.length > 0 && (
          <span className={classes.tags}>
            {row.tags.map(({ id, name, color }) => (
              <span key={id} className={classes.tag}>
                <span className={classes.color} style={{ background: color }} aria-hidden />
                {name}
              </span>
            ))}
          </span>
        )}
      </button>
    </li>
  )
}

/** What was said last and by whom, or what the ticket was opened with. */
function LastWords({ row: { subject, lastMessage, description } }: { row: Row }) {
  const said = (lastMessage?.text || description) ?? ''
  // The text of a mail begins with its subject, which stands above.
  const text = (subject && said.startsWith(`${subject}\n`) ? said.slice(subject.length) : said).trim()
  if (text === '') return null
  const author = lastMessage && lastMessage.author !== 'customer' ? (lastMessage.name ?? 'Agent') : null
  return (
    <span className={classes.words} dir="auto">
      {author && <b>{author}: </b>}
      {text}
    </span>
  )
}

/** When a ticket returns or is due, or how long it has waited. */
function Times({ row: { wakesAt, dueAt, waitingSince } }: { row: Row }) {
  if (wakesAt)
    return (
      <small>
        Returns <Ago at={wakesAt} />
      </small>
    )
  if (dueAt) {
    const isLate = Date.parse(dueAt) <= Date.now()
    return (
      <Badge tone={isLate ? 'danger' : 'warning'}>
        {isLate ? 'Late: due' : 'Due'} <Ago at={dueAt} />
      </Badge>
    )
  }
  const waiting = waitingSince ? formatPassed(waitingSince) : null
  return waiting && <small>Waiting {waiting}</small>
}
