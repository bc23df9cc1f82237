import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call, exporting, type OutputOf, reading } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { asJsonLine, collect, saveFile } from '../app/save-file.ts'
import { useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Actions, Form, FormProblem, TextField } from '../ui/field.tsx'
import { plural } from '../ui/format.ts'
import { Download } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { tell } from '../ui/toast.tsx'

type Contact = OutputOf<'GET', '/agents/{agentId}/contacts/{contactId}'>

/** Exports everything that is stored about a person, or erases it. */
export function Person({ contact, onErased }: { contact: Contact; onErased: () => void }) {
  const can = useCan()
  const name = contact.name ?? contact.externalId
  const save = useMutation({
    mutationFn: async () => {
      const lines = exporting('POST', '/users/export', { body: { contactId: contact.id } })
      saveFile('person.ndjson', await collect(lines, asJsonLine), 'application/x-ndjson')
    },
    onSuccess: () => tell('done', `What is held about ${name} is in the file.`),
  })
  if (!can('privacy:read')) return null
  return (
    <>
      <Section
        title="Everything that is stored"
        about="The contact, conversations, leads and tickets of all agents, in one file."
      >
        <div>
          <Button icon={Download} pending={save.isPending} onClick={() => save.mutate()}>
            Export this person
          </Button>
        </div>
      </Section>
      {can('privacy:write') && <Erase contactId={contact.id} name={name} onErased={onErased} />}
    </>
  )
}

const POLL_MS = 1_000

/** Erasing cannot be undone, so the user has to type the name of the person. */
function Erase({ contactId, name, onErased }: { contactId: string; name: string; onErased: () => void }) {
  const [typed, setTyped] = useState('')
  const erase = useMutation({
    meta: { quiet: true },
    mutationFn: () => call('POST', '/users/erase', { body: { contactId } }),
  })
  const erasureId = erase.data?.data.id ?? ''
  const erasure = useQuery({
    ...reading('/users/erasures/{erasureId}', { params: { erasureId } }),
    enabled: erasureId !== '',
    refetchInterval: ({ state }) => (state.data?.data.status === 'finished' ? false : POLL_MS),
  })
  const { status, counts } = erasure.data?.data ?? {}
  useEffect(() => {
    if (status !== 'finished' || !counts) return
    tell(
      'done',
      `${name} is erased: ${plural(counts.conversations, 'conversation')}, ${plural(counts.tickets, 'ticket')}.`,
    )
    void queries.invalidateQueries()
    onErased()
  }, [status, counts, name, onErased])
  return (
    <Section
      title="Erase this person"
      about="Every conversation, lead and ticket is permanently deleted, too."
    >
      <Form onSubmit={() => erase.mutate()}>
        <TextField
          label={`Type ${name} to erase`}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          autoComplete="off"
        />
        {erase.error && <FormProblem>{sentenceOf(erase.error)}</FormProblem>}
        <Actions>
          <Button
            kind="danger"
            type="submit"
            disabled={typed !== name}
            pending={erase.isPending || erasureId !== ''}
          >
            Erase for good
          </Button>
        </Actions>
      </Form>
    </Section>
  )
}
