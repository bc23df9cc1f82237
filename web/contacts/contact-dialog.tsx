import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import agents from '../agents/agents.module.css'
import { call, type OutputOf, reading } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { Identities } from './identities.tsx'
import { Person } from './person.tsx'

type Contact = OutputOf<'GET', '/agents/{agentId}/contacts/{contactId}'>
type ContactDialogProps = { agentId: string; contact: Contact; onClose: () => void }

/** Shows a person with their conversations and the available actions. */
export function ContactDialog({ agentId, contact, onClose }: ContactDialogProps) {
  const can = useCan()
  const [isRemoving, setIsRemoving] = useState(false)
  const params = { agentId, contactId: contact.id }
  const conversations = useQuery(
    reading('/agents/{agentId}/contacts/{contactId}/conversations', { params, query: { limit: 10 } }),
  )
  const remove = useMutation({
    mutationFn: () => call('DELETE', '/agents/{agentId}/contacts/{contactId}', { params }),
    onSuccess: () => {
      tell('done', 'The contact is gone; the conversations stay.')
      void fetchAgain('/agents/{agentId}/contacts')
      onClose()
    },
  })
  return (
    <Dialog title={contact.name ?? contact.externalId} isOpen onClose={onClose} drawer="right">
      <div className={agents.steps}>
        <Facts contact={contact} />
        <Identities agentId={agentId} contactId={contact.id} onSeparated={onClose} />
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
          <Section
            title="Delete the contact"
            about="Only the name, address and attributes are deleted. The conversations stay."
          >
            <div>
              <Button kind="danger" onClick={() => setIsRemoving(true)}>
                Delete the contact
              </Button>
            </div>
          </Section>
        )}
        {isRemoving && (
          <Confirm
            title={`Delete ${contact.name ?? contact.externalId}?`}
            action="Delete for good"
            pending={remove.isPending}
            onConfirm={() => remove.mutate()}
            onClose={() => setIsRemoving(false)}
          >
            The name, the address and the attributes cannot be restored. The conversations stay.
          </Confirm>
        )}
        <Person contact={contact} onErased={onClose} />
      </div>
    </Dialog>
  )
}

function Facts({ contact }: { contact: Contact }) {
  return (
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
      {Object.entries(contact.customAttributes).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{String(value)}</dd>
        </div>
      ))}
    </dl>
  )
}
