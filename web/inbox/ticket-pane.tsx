import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { reading, type Ticket } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useShortcuts } from '../app/shortcuts.ts'
import { Ago } from '../ui/ago.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ArrowLeft, CircleCheck, PanelRight, RotateCcw } from '../ui/icons.ts'
import { Badge } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { Assign } from './assign.tsx'
import { Composer } from './composer.tsx'
import { Forward } from './forward.tsx'
import desk from './inbox.module.css'
import { MarkSpam } from './mark-spam.tsx'
import { Thread } from './thread.tsx'
import { ticketKeys } from './ticket-keys.ts'
import classes from './ticket-pane.module.css'
import { TicketSide } from './ticket-side.tsx'
import { CATEGORY, isOver, nameOf } from './ticket-words.ts'
import { useChange } from './use-change.ts'

type TicketPaneProps = {
  agentId: string
  ticketNumber: number
  onSeen: (ticket: Ticket) => void
  onSolved: () => void
  onBack: () => void
}

/** Shows a ticket: its messages, the reply form, and its details at the side. */
export function TicketPane({ agentId, ticketNumber, onSeen, onSolved, onBack }: TicketPaneProps) {
  const params = { agentId, ticketNumber }
  const can = useCan()
  const [open, setOpen] = useState<'side' | 'assign' | null>(null)
  const ticket = useQuery(reading('/agents/{agentId}/helpdesk/tickets/{ticketNumber}', { params }))
  const data = ticket.data
  useEffect(() => {
    const note = (): void => {
      if (data && !document.hidden) onSeen(data)
    }
    note()
    document.addEventListener('visibilitychange', note)
    return () => document.removeEventListener('visibilitychange', note)
  }, [data, onSeen])
  const mayWrite = can('helpdesk:write')
  const change = useChange(params)
  const isTurning = change.isPending && change.variables.statusCategory !== undefined
  const isDone = data !== undefined && isOver(data)
  const solveOrOpen = (): void => {
    if (!data || isTurning) return
    if (isDone) {
      change.mutate({ statusCategory: 'on_you' })
      return
    }
    change.mutate({ statusCategory: 'closed' })
    onSolved()
  }
  useShortcuts(mayWrite ? ticketKeys({ e: solveOrOpen, a: () => setOpen('assign') }) : [])
  const close = () => setOpen(null)
  return (
    <>
      <section className={desk.reader} aria-label="Ticket">
        <Loaded of={ticket} lines={8}>
          {(shown) => (
            <>
              <header className={classes.readerHead}>
                <span className={classes.back}>
                  <IconButton icon={ArrowLeft} label="Back to the list" onClick={onBack} />
                </span>
                <TicketTitle ticket={shown} />
                {mayWrite && (
                  <Button
                    small
                    icon={isDone ? RotateCcw : CircleCheck}
                    pending={isTurning}
                    onClick={solveOrOpen}
                  >
                    {isDone ? 'Open again' : 'Solve'}
                  </Button>
                )}
                <Forward {...params} />
                {mayWrite && !isDone && (
                  <MarkSpam params={params} email={shown.customer.email} onDone={onSolved} />
                )}
                <span className={classes.sideButton}>
                  <IconButton icon={PanelRight} label="Details" onClick={() => setOpen('side')} />
                </span>
              </header>
              <Thread ticket={shown} {...params} />
              {mayWrite && <Composer {...params} />}
              <Dialog title="Details" drawer="right" isOpen={open === 'side'} onClose={close}>
                <TicketSide agentId={agentId} ticket={shown} onChange={change.mutateAsync} />
              </Dialog>
              {open === 'assign' && (
                <Assign
                  agentId={agentId}
                  onChoose={(assigneeId) => change.mutate({ assigneeId })}
                  onClose={close}
                />
              )}
            </>
          )}
        </Loaded>
      </section>
      <aside className={classes.side} aria-label="Details">
        {data && <TicketSide agentId={agentId} ticket={data} onChange={change.mutateAsync} />}
      </aside>
    </>
  )
}

function TicketTitle({ ticket }: { ticket: Ticket }) {
  return (
    <div className={classes.title}>
      <h2 dir="auto">{ticket.subject ?? 'Without a subject'}</h2>
      <p>
        <Badge tone={CATEGORY[ticket.statusCategory][0]}>{CATEGORY[ticket.statusCategory][1]}</Badge>{' '}
        <bdi>{nameOf(ticket.customer)}</bdi> · #{ticket.ticketNumber} · <Ago at={ticket.createdAt} />
      </p>
    </div>
  )
}
