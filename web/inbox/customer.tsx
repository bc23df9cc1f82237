import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reading, type Ticket } from '../app/api.ts'
import { useCan } from '../app/session.ts'
import { useContact } from '../contacts/use-contact.ts'
import { Ago } from '../ui/ago.tsx'
import classes from './ticket-side.module.css'
import { channelName } from './ticket-words.ts'

/** What is known about the customer of a ticket, with other tickets and the conversation. */
export function Customer({ agentId, ticket }: { agentId: string; ticket: Ticket }) {
  const can = useCan()
  const { id, name, email, phoneNumber } = ticket.customer
  const { contact } = useContact(agentId, id)
  const tickets = useQuery({
    ...reading('/agents/{agentId}/contacts/{contactId}/tickets', {
      params: { agentId, contactId: contact?.id ?? '' },
      query: { limit: 6 },
    }),
    enabled: contact !== undefined,
  })
  const others = tickets.data?.data.filter(({ ticketNumber }) => ticketNumber !== ticket.ticketNumber) ?? []
  const attributes = Object.entries(contact?.customAttributes ?? {}).filter(([, value]) => value !== null)
  return (
    <section aria-label="Customer" className={classes.customerCard}>
      <h3 dir="auto">{name ?? contact?.name ?? 'Visitor'}</h3>
      {email && <a href={`mailto:${email}`}>{email}</a>}
      {phoneNumber && <a href={`tel:${phoneNumber}`}>{phoneNumber}</a>}
      <p>Channel: {channelName(ticket.channel)}</p>
      {attributes.length > 0 && (
        <dl className={classes.attributes}>
          {attributes.map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd dir="auto">{typeof value === 'object' ? JSON.stringify(value) : String(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {ticket.conversationId && can('conversations:read') && (
        <Link
          to="/agents/$agentId/conversations"
          params={{ agentId }}
          search={{ open: ticket.conversationId }}
        >
          The whole conversation
        </Link>
      )}
      {others.length > 0 && (
        <>
          <h3>Other tickets</h3>
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
