import { type ChangeEvent, useState } from 'react'
import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import sources from '../sources/sources.module.css'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field, Form, FormActions } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { Bar, Table } from '../ui/page.tsx'
import { readContacts } from './contact-rows.ts'

const AT_ONCE = 500
const MAX_LIST_LENGTH = 50
const WORDS: Record<string, string> = {
  externalId: 'ID',
  name: 'Name',
  email: 'Email',
  phoneNumber: 'Phone',
}

type Read = NonNullable<ReturnType<typeof readContacts>>
type ImportResult = {
  created: number
  updated: number
  refused: { index: number; reason: string }[]
  unknownAttributes: string[]
}

/** Imports contacts from a CSV file, and says which rows were left out and why. */
export function ImportContacts({ agentId, onClose }: { agentId: string; onClose: () => void }) {
  const [read, setRead] = useState<Read | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [done, setDone] = useState(0)
  const send = useMutation({
    meta: { quiet: true },
    mutationFn: async ({ contacts }: Read): Promise<ImportResult> => {
      const whole: ImportResult = { created: 0, updated: 0, refused: [], unknownAttributes: [] }
      for (let from = 0; from < contacts.length; from += AT_ONCE) {
        const part = await call('POST', '/agents/{agentId}/contacts/import', {
          params: { agentId },
          body: { contacts: contacts.slice(from, from + AT_ONCE) },
        })
        whole.created += part.created
        whole.updated += part.updated
        whole.refused.push(...part.refused.map(({ index, reason }) => ({ index: from + index, reason })))
        whole.unknownAttributes = [...new Set([...whole.unknownAttributes, ...part.unknownAttributes])]
        setDone(from + AT_ONCE)
      }
      return whole
    },
    onSettled: () => fetchAgain('/agents/{agentId}/contacts'),
  })
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const file = target.files?.[0]
    if (!file) return
    send.reset()
    const found = readContacts(await file.text())
    setRead(found)
    setProblem(found ? null : 'The file needs a row of headings and at least one row below it.')
  }
  return (
    <Dialog title="Import contacts" isOpen onClose={onClose} wide>
      {send.data ? (
        <Result outcome={send.data} onClose={onClose} />
      ) : (
        <Form
          save={send}
          onSubmit={() => {
            if (read) send.mutate(read)
          }}
        >
          <Field
            label="CSV file"
            hint="With headings such as Name, Email, Phone and Id. Other columns are custom attributes. A contact whose id, address or number is known is updated, not added again."
            error={problem}
          >
            {(wiring) => (
              <input
                {...wiring}
                type="file"
                accept=".csv,text/csv"
                onChange={(event) => void choose(event)}
              />
            )}
          </Field>
          {read && <Columns read={read} />}
          {send.isPending && read && (
            <Bar share={done / read.contacts.length} label="Contacts that are imported" />
          )}
          <FormActions
            save={send}
            kind="primary"
            disabled={!read}
            label={read ? `Import ${plural(read.contacts.length, 'row')}` : 'Import'}
            onCancel={onClose}
          />
        </Form>
      )}
    </Dialog>
  )
}

const Columns = ({ read: { columns, contacts } }: { read: Read }) => (
  <Table stacked label="Columns of the file" head={['Column', 'Becomes', 'For example']}>
    {columns.map(({ heading, field }) => {
      const first = contacts[0] ?? {}
      const attributes = (first.customAttributes ?? {}) as Record<string, string>
      return (
        <tr key={heading}>
          <td>{heading}</td>
          <td>{field ? WORDS[field] : 'Custom attribute'}</td>
          <td>{String((field ? first[field] : attributes[heading]) ?? '–')}</td>
        </tr>
      )
    })}
  </Table>
)

function Result({ outcome, onClose }: { outcome: ImportResult; onClose: () => void }) {
  const { created, updated, refused, unknownAttributes } = outcome
  return (
    <div className={sources.drop}>
      <p role="status">
        {plural(created, 'contact')} added, {updated} changed, {refused.length} left out.
      </p>
      {unknownAttributes.length > 0 && (
        <p>The agent has no attribute {unknownAttributes.join(', ')}, so these columns were left out.</p>
      )}
      {refused.length > 0 && (
        <Table label="Rows that were left out" head={['Row', 'Why']}>
          {refused.slice(0, MAX_LIST_LENGTH).map(({ index, reason }) => (
            <tr key={index}>
              {/* The first row of the file holds the headings. */}
              <td>{index + 2}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </Table>
      )}
      <div>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </div>
  )
}
