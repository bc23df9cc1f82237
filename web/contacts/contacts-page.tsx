import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { listing, type OutputOf, reading } from '../app/api.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { ContactRound, Download, Upload } from '../ui/icons.ts'
import { Page, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'
import { ContactDialog } from './contact-dialog.tsx'
import { exportContacts } from './export-contacts.ts'
import { ImportContacts } from './import-contacts.tsx'

/** Lists the contacts of an agent. */
export function ContactsPage() {
  const agentId = useAgentId()
  const navigate = useNavigate()
  const { query, contact: openId } = useSearch({ strict: false })
  const show = (contact: string | undefined) => void navigate({ to: '.', search: { query, contact } })
  const [isImporting, setIsImporting] = useState(false)
  const can = useCan()
  const save = useMutation({
    mutationFn: () => exportContacts(agentId, query),
    onSuccess: (count) => tell('done', `${plural(count, 'contact')} exported.`),
  })
  const contacts = useInfiniteQuery(
    listing('/agents/{agentId}/contacts', { params: { agentId }, query: { limit: 50, query } }),
  )
  const known = contacts.data?.pages.flatMap(({ data }) => data).find(({ id }) => id === openId)
  const read = useQuery({
    ...reading('/agents/{agentId}/contacts/{contactId}', { params: { agentId, contactId: openId ?? '' } }),
    enabled: openId !== undefined && !known && contacts.isSuccess,
  })
  const open = openId === undefined ? undefined : (known ?? read.data)
  return (
    <Page
      title="Contacts"
      about="People whom this agent or your team has talked to."
      actions={
        <>
          {can('conversations:write') && (
            <Button icon={Upload} onClick={() => setIsImporting(true)}>
              Import
            </Button>
          )}
          <Button icon={Download} pending={save.isPending} onClick={() => save.mutate()}>
            Export
          </Button>
        </>
      }
    >
      <div className={sources.filters}>
        <TextField
          label="Search contacts"
          hideLabel
          type="search"
          placeholder="Name, email, phone, username or ID"
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
              <ContactTable contacts={all} onOpen={show} />
              <ShowMore of={contacts} className={sources.more} />
            </>
          )
        }}
      </Loaded>
      {isImporting && <ImportContacts agentId={agentId} onClose={() => setIsImporting(false)} />}
      {open && <ContactDialog agentId={agentId} contact={open} onClose={() => show(undefined)} />}
    </Page>
  )
}

type Contacts = OutputOf<'GET', '/agents/{agentId}/contacts'>['data']

function ContactTable({ contacts, onOpen }: { contacts: Contacts; onOpen: (id: string) => void }) {
  return (
    <Table stacked label="Contacts" head={['Name', 'Email', 'Phone', 'Known since']}>
      {contacts.map((contact) => (
        <tr key={contact.id}>
          <td>
            <button type="button" className={sources.open} onClick={() => onOpen(contact.id)}>
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
  )
}
