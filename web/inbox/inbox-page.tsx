import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Inbox as InboxIcon } from 'lucide-react'
import { useEffect } from 'react'
import { call, listing, reading } from '../app/api.ts'
import { useAgentId, useMember } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Badge } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './inbox.module.css'
import { useSeen } from './seen.ts'
import { TicketPane } from './ticket-pane.tsx'
import { CATEGORY, nameOf } from './ticket-words.ts'
import { useLiveDesk } from './use-live-desk.ts'

const OPEN = 'new,on_you,on_customer,on_hold'
const VIEWS = [
  ['mine', 'Mine'],
  ['unassigned', 'Unassigned'],
  ['open', 'All open'],
  ['solved', 'Solved'],
] as const
type View = (typeof VIEWS)[number][0]
type Search = { view?: View; ticket?: string; query?: string; conversation?: string }

/** The inbox: lists the tickets of an agent and shows the selected one. */
export function InboxPage() {
  const agentId = useAgentId()
  const member = useMember()
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as Search
  const { view = 'open', ticket, query } = search
  const change = (part: Search, replace = false) =>
    void navigate({ to: '.', search: { ...search, ...part } as never, replace })
  useLiveDesk(agentId)
  const params = { agentId }
  const filter = {
    mine: { status: OPEN, assigneeId: member?.id },
    unassigned: { status: OPEN, assigneeId: 'none' },
    open: { status: OPEN },
    solved: { status: 'closed,cancelled' },
  }[view]
  const tickets = useInfiniteQuery({
    ...listing('/agents/{agentId}/helpdesk/tickets', {
      params,
      query: { limit: 50, sortBy: 'lastMessageAt', ...filter },
    }),
    enabled: !query,
  })
  const found = useQuery({
    queryKey: ['/agents/{agentId}/helpdesk/tickets', params, 'search', query],
    queryFn: () =>
      call('POST', '/agents/{agentId}/helpdesk/tickets/search', {
        params,
        body: { query: query ?? '', limit: 50 },
      }),
    enabled: Boolean(query),
  })
  const rows = query ? (found.data?.data ?? []) : (tickets.data?.pages.flatMap(({ data }) => data) ?? [])
  const open = Number(ticket) || null
  const at = rows.findIndex(({ ticketNumber }) => ticketNumber === open)
  const step = (by: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))]
    if (next) change({ ticket: String(next.ticketNumber) }, true)
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
  const seen = useSeen(agentId)
  const waiting = useWaiting(agentId)
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Inbox – Parley` : 'Inbox – Parley'
  }, [waiting])
  return (
    <div className={`${classes.desk} ${open ? classes.reading : ''}`}>
      <section className={classes.list} aria-label="Tickets">
        <header className={classes.head}>
          <h1>Inbox</h1>
          {waiting > 0 && <Badge tone="warning">{waiting} waiting</Badge>}
        </header>
        <nav className={classes.views} aria-label="Views">
          {VIEWS.map(([id, label]) => (
            <button
              key={id}
              type="button"
              aria-pressed={view === id && !query}
              onClick={() => change({ view: id, query: undefined, ticket: undefined })}
            >
              {label}
            </button>
          ))}
        </nav>
        <form
          className={classes.search}
          onSubmit={(event) => {
            event.preventDefault()
            const text = String(new FormData(event.currentTarget).get('query')).trim()
            change({ query: text || undefined })
          }}
        >
          <TextField
            key={query}
            label="Search tickets"
            hideLabel
            type="search"
            name="query"
            placeholder="Search tickets"
            defaultValue={query}
          />
        </form>
        <Loaded<unknown> of={query ? found : tickets} lines={8}>
          {() =>
            rows.length === 0 ? (
              <Empty icon={InboxIcon} title={query ? 'No ticket matches' : 'Nobody is waiting'}>
                {query
                  ? 'Search for a name, a subject or a number.'
                  : 'New tickets come in here by themselves.'}
              </Empty>
            ) : (
              <ul className={classes.rows}>
                {rows.map((row) => (
                  <TicketRow
                    key={row.ticketNumber}
                    row={row}
                    isOpen={row.ticketNumber === open}
                    isUnread={seen.isUnread(row)}
                    onOpen={() => change({ ticket: String(row.ticketNumber) })}
                  />
                ))}
                {tickets.hasNextPage && !query && (
                  <li className={classes.more}>
                    <Button
                      small
                      onClick={() => tickets.fetchNextPage()}
                      pending={tickets.isFetchingNextPage}
                    >
                      Show more
                    </Button>
                  </li>
                )}
              </ul>
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
          onBack={() => change({ ticket: undefined })}
        />
      ) : (
        <div className={classes.none}>
          <Empty icon={InboxIcon} title="Choose a ticket">
            <kbd>j</kbd> and <kbd>k</kbd> go through the list, <kbd>r</kbd> replies.
          </Empty>
        </div>
      )}
    </div>
  )
}

/** Returns how many tickets are waiting for the team. */
function useWaiting(agentId: string): number {
  const { data } = useQuery(
    reading('/agents/{agentId}/helpdesk/tickets', {
      params: { agentId },
      query: { status: 'new,on_you', limit: 1, includeTotal: true },
    }),
  )
  return data?.pagination.total ?? 0
}

type Row = {
  ticketNumber: number
  subject: string | null
  statusCategory: keyof typeof CATEGORY
  customer: { name: string | null; email: string | null; phoneNumber: string | null }
  channel: string
  priority: string
  lastMessageAt: string | null
  updatedAt: string
}
type RowProps = { row: Row; isOpen: boolean; isUnread: boolean; onOpen: () => void }

function TicketRow({ row, isOpen, isUnread, onOpen }: RowProps) {
  const [tone, label] = CATEGORY[row.statusCategory]
  const isUrgent = row.priority === 'urgent' || row.priority === 'high'
  return (
    <li>
      <button
        type="button"
        className={`${classes.row} ${isUnread ? classes.unread : ''}`}
        aria-current={isOpen}
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
        <span className={classes.marks}>
          <Badge tone={tone}>{label}</Badge>
          {isUrgent && <Badge tone="danger">{row.priority}</Badge>}
          {isUnread && <span className={classes.dot} role="img" aria-label="Unread" />}
          <small>
            #{row.ticketNumber} · {row.channel}
          </small>
        </span>
      </button>
    </li>
  )
}
