import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Field, Form, TextArea, TextField } from '../ui/field.tsx'
import type { LucideIcon } from '../ui/icon.tsx'
import { FileText, Globe, NotebookPen } from '../ui/icons.ts'
import { Card, Page } from '../ui/page.tsx'
import classes from './agents.module.css'
import { type FirstSource, leaveFirstSource } from './first-source.ts'

type Kind = 'website' | 'file' | 'text'

const KINDS: { id: Kind; label: string; about: string; icon: LucideIcon }[] = [
  { id: 'website', label: 'Website', about: 'We read its pages', icon: Globe },
  { id: 'file', label: 'Files', about: 'PDF, Word, Excel, …', icon: FileText },
  { id: 'text', label: 'Text', about: 'Written or pasted', icon: NotebookPen },
]

/** The page that creates an agent from a name and a first source. */
export function NewAgentPage() {
  const [kind, setKind] = useState<Kind>('website')
  const navigate = useNavigate()
  const create = useMutation({
    mutationFn: async (form: FormData) => {
      const name = String(form.get('name')).trim()
      const { id: agentId } = await call('POST', '/agents', { body: { name } })
      leaveFirstSource(agentId, firstSourceOf(kind, name, form))
      return agentId
    },
    onSuccess: (agentId) => {
      void fetchAgain('/agents')
      // Going back to the form could only make a second agent.
      void navigate({ to: '/agents/$agentId/start', params: { agentId }, replace: true })
    },
  })
  const submit = (fields: FormData): void => create.mutate(fields)
  return (
    <Page title="New agent" narrow about="The agent answers only from its sources, and cites them.">
      <Card>
        <Form save={create} onSubmit={submit}>
          <TextField label="Name" name="name" placeholder="Help desk" required maxLength={100} autoFocus />
          <fieldset className={classes.kinds}>
            <legend className={classes.legend}>What should it read first?</legend>
            {KINDS.map(({ id, label, about, icon: Icon }) => (
              <label key={id} className={classes.kind}>
                <input
                  type="radio"
                  name="kind"
                  className="visually-hidden"
                  checked={kind === id}
                  onChange={() => setKind(id)}
                />
                <Icon size={20} aria-hidden />
                <strong>{label}</strong>
                <small>{about}</small>
              </label>
            ))}
          </fieldset>
          {kind === 'website' && (
            <TextField
              label="Address of the website"
              name="url"
              inputMode="url"
              placeholder="https://example.com"
              hint="All pages below this address that its robots.txt allows."
              required
            />
          )}
          {kind === 'file' && (
            <Field label="Files" hint="PDF, Word, Excel, PowerPoint, text, Markdown, HTML, CSV.">
              {(wiring) => <input {...wiring} type="file" name="files" multiple required />}
            </Field>
          )}
          {kind === 'text' && (
            <TextArea
              label="Text"
              name="text"
              rows={8}
              placeholder="Our lamps have a warranty of…"
              required
            />
          )}
          <div>
            <Button kind="primary" type="submit" pending={create.isPending}>
              Create the agent
            </Button>
          </div>
        </Form>
      </Card>
    </Page>
  )
}

function firstSourceOf(kind: Kind, name: string, form: FormData): FirstSource {
  const text = (field: string) => String(form.get(field)).trim()
  if (kind === 'website') return { kind: 'website', address: text('url') }
  if (kind === 'text') return { kind: 'text', name: `About ${name}`, text: text('text') }
  return { kind: 'files', files: form.getAll('files').filter((file) => file instanceof File) }
}
