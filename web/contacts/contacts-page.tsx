import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ContactRound } from 'lucide-react'
import { useState } from 'react'
import agents from '../agents/agents.module.css'
import { call, listing, type OutputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { TextField } from '../ui/field.tsx'
import { Page, Section, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Contact = OutputOf<'GET', '/agents/{agentId}/contacts/{contactId}'>

/** Lists the contacts of an agent. */
export function ContactsPage() {
  const agentId = useAgentId()
  const navigate = useNavigate()
  const { query } = useSearch({ strict: false }) as { query?: string }
  const [open, setOpen] = useState<Contact | null>(null)
  const contacts = useInfiniteQuery(
    listing('/agents/{agentId}/contacts', { params: { agentId }, query: { limit: 50, query } }),
  )
  return (
    <Page title="Contacts" about="People whom this agent or your team has talked to.">
      <div className={sources.filters}>
        <TextField
          label="Search contacts"
          hideLabel
          type="search"
          placeholder="Name, email, phone or ID"
          defaultValue={query ?? ''}
          onChange={({ target }) =>
            void navigate({ to: '.', search: { query: target.value || undefined }, replace: true })
          }
        />
      </div>
      <Loaded of={contacts}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) {
            return (
              <Empty icon={ContactRound} title={query ? 'Nobody matches' : 'No contact yet'}>
                {!query && 'People come in here when they leave their details or your site signs them in.'}
              </Empty>
            )
          }
          return (
            <>
              <Table label="Contacts" head={['Name', 'Email', 'Phone', 'Known since']}>
                {all.map((contact) => (
                  <tr key={contact.id}>
                    <td>
                      <button type="button" className={sources.open} onClick={() => setOpen(contact)}>
                        {contact.name ?? contact.externalId}
                      </button>
                    </td>
                    <td>{contact.email ?? '–'}</td>
                    <td>{contact.phoneNumber ?? '–'}</td>
                    <td className={sources.nowrap}>
                      <Ago at={contact.createdAt} />
                    </td>
                  </tr>
                ))}
              </Table>
              {contacts.hasNextPage && (
                <div className={sources.more}>
                  <Button onClick={() => contacts.fetchNextPage()} pending={contacts.isFetchingNextPage}>
                    Show more
                  </Button>
                </div>
              )}
            </>
          )
        }}
      </Loaded>
      {open && <ContactDialog agentId={agentId} contact={open} onClose={() => setOpen(null)} />}
    </Page>
  )
}

type ContactDialogProps = { agentId: string; contact: Contact; onClose: () => void }

function ContactDialog({ agentId, contact, onClose }: ContactDialogProps) {
  const can = useCan()
  const params = { agentId, contactId: contact.id }
  const conversations = useQuery(
    reading('/agents/{agentId}/contacts/{contactId}/conversations', { params, query: { limit: 10 } }),
  )
  const attributes = Object.entries(contact.customAttributes as Record<string, unknown>)
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/agents/{agentId}/contacts/{contactId}', { params }),
    onSuccess: () => {
      tell('done', 'The contact is gone; the conversations stay.')
      void queries.invalidateQueries({ queryKey: ['/agents/{agentId}/contacts'] })
      onClose()
    },
  })
  return (
    <Dialog title={contact.name ?? contact.externalId} isOpen onClose={onClose} drawer="right">
      <div className={agents.steps}>
        <dl className={sources.facts}>
          <div>
            <dt>Email</dt>
            <dd>{contact.email ?? '–'}</dd>
          </div>
          <div>
            <dt>Phone</dt>
            <dd>{contact.phoneNumber ?? '–'}</dd>
          </div>
          <div>
            <dt>ID</dt>
            <dd>{contact.externalId}</dd>
          </div>
          {attributes.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{String(value)}</dd>
            </div>
          ))}
        </dl>
        <Section title="Conversations">
          <Loaded of={conversations}>
            {({ data }) => (
              <ul className={agents.rows}>
                {data.length === 0 && <li>None yet.</li>}
                {data.map(({ id, title, updatedAt }) => (
                  <li key={id}>
                    <Link to="/agents/$agentId/conversations" params={{ agentId }} search={{ open: id }}>
                      {title ?? 'Untitled'}
                    </Link>
                    <Ago at={updatedAt} />
                  </li>
                ))}
              </ul>
            )}
          </Loaded>
        </Section>
        {can('conversations:write') && (
          <div>
            <Button kind="danger" pending={remove.isPending} onClick={() => remove.mutate()}>
              Delete the contact
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  )
}
