import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { type OutputOf, reading } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import classes from './composer.module.css'
import desk from './inbox.module.css'

/** The recipients of a mail, as they are typed. */
export type TypedPeople = { to: string; cc: string; bcc: string }

const PATH = '/agents/{agentId}/helpdesk/tickets/{ticketNumber}/recipients'
type Person = OutputOf<'GET', typeof PATH>['to'][number]

/** Whom a reply reaches, and how. */
export const useRecipients = (params: RecipientsProps['params']) => useQuery(reading(PATH, { params }))

type RecipientsProps = {
  params: { agentId: string; ticketNumber: number }
  /** Null: all people of the conversation. */
  people: TypedPeople | null
  onChange: (people: TypedPeople | null) => void
}

/** Chooses who gets a reply by mail. Shows nothing where the customer is not reached by mail. */
export function Recipients({ params, people, onChange }: RecipientsProps) {
  const known = useRecipients(params)
  const [isOpen, setIsOpen] = useState(false)
  const fields = useId()
  // They were sent, or all people were chosen again.
  useEffect(() => {
    if (people === null) setIsOpen(false)
  }, [people])
  if (known.data?.channel !== 'email') return null
  const { to, cc } = known.data
  const all = { to: asText(to), cc: asText(cc), bcc: '' }
  const shown = people ?? all
  const isAlone = shown.to === all.to && shown.cc === '' && shown.bcc === ''
  const named = [shown.cc && `Cc: ${shown.cc}`, shown.bcc && `Bcc: ${shown.bcc}`].filter(Boolean).join(' · ')
  return (
    <fieldset className={classes.recipients}>
      <legend className="visually-hidden">Recipients</legend>
      {cc.length > 0 && (
        <div className={desk.choices}>
          <button type="button" aria-pressed={people === null} onClick={() => onChange(null)}>
            Reply all
          </button>
          <button type="button" aria-pressed={isAlone} onClick={() => onChange({ ...all, cc: '' })}>
            Reply to one
          </button>
        </div>
      )}
      <p>
        To: {shown.to || 'nobody'} {named && `· ${named}`}
      </p>
      <Button small aria-expanded={isOpen} aria-controls={fields} onClick={() => setIsOpen(!isOpen)}>
        {isOpen ? 'Hide the recipients' : 'Change the recipients'}
      </Button>
      <div id={fields} className={classes.recipientFields} hidden={!isOpen}>
        {FIELDS.map((name) => (
          <TextField
            key={name}
            label={LABELS[name]}
            value={shown[name]}
            onChange={({ target }) => onChange({ ...shown, [name]: target.value })}
            placeholder="ann@example.com, bob@example.com"
            autoCapitalize="none"
            spellCheck={false}
          />
        ))}
      </div>
    </fieldset>
  )
}

const FIELDS = ['to', 'cc', 'bcc'] as const
const LABELS = { to: 'To', cc: 'Cc', bcc: 'Bcc (only your team sees it)' }

const asText = (people: readonly Person[]): string => people.map(({ address }) => address).join(', ')

/** Returns the addresses in a text; names before them are left out. */
const addressesIn = (text: string): string[] =>
  text.split(/[,;\n]/).flatMap((one) => (/<([^<>]*)>/.exec(one)?.[1] ?? one).trim() || [])

/** The fields of a request that sends a mail. */
export const requestOf = (people: TypedPeople | null) =>
  people && { to: addressesIn(people.to), cc: addressesIn(people.cc), bcc: addressesIn(people.bcc) }

type AddressFieldsProps = { start?: { to?: string[]; cc?: string[]; bcc?: string[] } | undefined }

/** The recipients of a mail in a form, which are read by peopleOf(). */
export const AddressFields = ({ start }: AddressFieldsProps) =>
  FIELDS.map((name) => (
    <TextField
      key={name}
      label={LABELS[name]}
      name={name}
      defaultValue={start?.[name]?.join(', ')}
      required={name === 'to'}
      placeholder={name === 'to' ? 'ann@example.com, bob@example.com' : undefined}
      autoCapitalize="none"
      spellCheck={false}
    />
  ))

/** Returns the recipients that were entered into AddressFields. */
export function peopleOf(form: FormData) {
  const addresses = (name: string): string[] => addressesIn(String(form.get(name) ?? ''))
  return { to: addresses('to'), cc: addresses('cc'), bcc: addresses('bcc') }
}
