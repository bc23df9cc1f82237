import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Undo2 } from 'lucide-react'
import { call, reading, type Ticket } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useCan, useMember } from '../app/session.ts'
import { readingConversation } from '../conversations/read-conversation.ts'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import fields from '../ui/field.module.css'
import { Check, Field, Select } from '../ui/field.tsx'
import { tell } from '../ui/toast.tsx'
import classes from './inbox.module.css'

export type TicketChange = {
  statusCategory?: Ticket['statusCategory']
  assigneeId?: string | null
  priority?: Ticket['priority']
}

const PRIORITIES = [
  ['none', 'None'],
  ['low', 'Low'],
  ['normal', 'Normal'],
  ['high', 'High'],
  ['urgent', 'Urgent'],
] as const
const STATUSES = [
  ['new', 'New'],
  ['on_you', 'Waits for us'],
  ['on_customer', 'Waits for them'],
  ['on_hold', 'On hold'],
  ['closed', 'Solved'],
  ['cancelled', 'Cancelled'],
] as const

type TicketSideProps = {
  agentId: string
  ticket: Ticket
  onChange: (change: TicketChange) => void
  /** The element id of the assignee field, for the keyboard shortcut that focuses it. */
  assigneeId?: string
}

/** Shows a ticket's assignee, priority and status, and what is known about the customer. */
export function TicketSide({ agentId, ticket, onChange, assigneeId }: TicketSideProps) {
  const can = useCan()
  const member = useMember()
  const members = useQuery(reading('/agents/{agentId}/helpdesk/members', { params: { agentId } })).data ?? []
  const disabled = !can('helpdesk:write')
  return (
    <div className={classes.details}>
      <Field label="Assigned to">
        {(wiring) => (
          <select
            {...wiring}
            id={assigneeId ?? wiring.id}
            className={`${fields.input} ${fields.select}`}
            aria-label="Assigned to"
            disabled={disabled}
            value={ticket.assigneeId ?? ''}
            onChange={({ target }) => onChange({ assigneeId: target.value || null })}
          >
            <option value="">Nobody</option>
            {members.map(({ id, name, presence }) => (
              <option key={id} value={id}>
                {name}
                {id === member?.id ? ' (you)' : presence === 'online' ? '' : ` (${presence})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Select
        label="Status"
        options={STATUSES}
        disabled={disabled}
        value={ticket.statusCategory}
        onChange={({ target }) => onChange({ statusCategory: target.value as Ticket['statusCategory'] })}
      />
      <Select
        label="Priority"
        options={PRIORITIES}
        disabled={disabled}
        value={ticket.priority}
        onChange={({ target }) => onChange({ priority: target.value as Ticket['priority'] })}
      />
      <Tags agentId={agentId} ticketNumber={ticket.ticketNumber} disabled={disabled} />
      {ticket.conversationId && !disabled && (
        <HandBack agentId={agentId} conversationId={ticket.conversationId} />
      )}
      <Customer agentId={agentId} ticket={ticket} />
    </div>
  )
}

type TagsProps = { agentId: string; ticketNumber: number; disabled: boolean }

function Tags({ agentId, ticketNumber, disabled }: TagsProps) {
  const params = { agentId, ticketNumber }
  const all = useQuery(reading('/agents/{agentId}/helpdesk/tags', { params: { agentId } })).data ?? []
  const path = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/tags'
  const own = useQuery(reading(path, { params })).data ?? []
  const set = useMutation({
    mutationFn: (tagIds: string[]) => call('PUT', path, { params, body: { tagIds } }),
    onSuccess: (tags) => queries.setQueryData(reading(path, { params }).queryKey, tags),
  })
  if (all.length === 0) return null
  const ids = own.map(({ id }) => id)
  return (
    <fieldset className={classes.tags}>
      <legend>Tags</legend>
      {all.map(({ id, name }) => (
        <Check
          key={id}
          label={name}
          disabled={disabled}
          checked={ids.includes(id)}
          onChange={({ target }) =>
            set.mutate(target.checked ? [...ids, id] : ids.filter((one) => one !== id))
          }
        />
      ))}
    </fieldset>
  )
}

function HandBack({ agentId, conversationId }: { agentId: string; conversationId: string }) {
  const params = { agentId, conversationId }
  const { data } = useQuery(readingConversation(agentId, conversationId))
  const handBack = useMutation({
    mutationFn: () => call('POST', '/agents/{agentId}/conversations/{conversationId}/handback', { params }),
    onSuccess: () => tell('done', 'The agent answers again.'),
    onSettled: () =>
      queries.invalidateQueries({ queryKey: ['/agents/{agentId}/conversations/{conversationId}'] }),
  })
  if (data?.status !== 'taken_over') return null
  return (
    <Button small icon={Undo2} pending={handBack.isPending} onClick={() => handBack.mutate()}>
      Hand back to the agent
    </Button>
  )
}

function Customer({ agentId, ticket }: { agentId: string; ticket: Ticket }) {
  const { id, name, email, phoneNumber } = ticket.customer
  const tickets = useQuery({
    ...reading('/agents/{agentId}/contacts/{contactId}/tickets', {
      params: { agentId, contactId: id ?? '' },
      query: { limit: 6 },
    }),
    enabled: id !== null,
  })
  const others = tickets.data?.data.filter(({ ticketNumber }) => ticketNumber !== ticket.ticketNumber) ?? []
  return (
    <section aria-label="Customer" className={classes.customerCard}>
      <h3>{name ?? 'Visitor'}</h3>
      {email && <a href={`mailto:${email}`}>{email}</a>}
      {phoneNumber && <a href={`tel:${phoneNumber}`}>{phoneNumber}</a>}
      <p>Came by {ticket.channel}</p>
      {others.length > 0 && (
        <>
          <h3>Earlier tickets</h3>
          <ul>
            {others.map(({ ticketNumber, subject, createdAt }) => (
              <li key={ticketNumber}>
                <Link
                  to="/agents/$agentId/inbox"
                  params={{ agentId }}
                  search={{ ticket: String(ticketNumber), view: 'open' }}
                >
                  {subject ?? `#${ticketNumber}`}
                </Link>{' '}
                <Ago at={createdAt} />
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
