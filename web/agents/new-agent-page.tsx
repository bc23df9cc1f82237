import { Link } from '@tanstack/react-router'
import { FileText, Globe, type LucideIcon, NotebookPen } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { call, uploadSource } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useMutation } from '../app/use-mutation.ts'
import { ChatPane } from '../playground/chat-pane.tsx'
import { TrainingList } from '../sources/training-list.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Field, Form, TextArea, TextField } from '../ui/field.tsx'
import { Card, Page, Section } from '../ui/page.tsx'
import classes from './agents.module.css'

type Kind = 'website' | 'file' | 'text'

const KINDS: { id: Kind; label: string; about: string; icon: LucideIcon }[] = [
  { id: 'website', label: 'Website', about: 'We read its pages', icon: Globe },
  { id: 'file', label: 'Files', about: 'PDF, Word, Excel, …', icon: FileText },
  { id: 'text', label: 'Text', about: 'Written or pasted', icon: NotebookPen },
]

/** The page that creates an agent: it takes a name and a first source, shows the training and offers a chat. */
export function NewAgentPage() {
  const [kind, setKind] = useState<Kind>('website')
  const [problems, setProblems] = useState<string[]>([])
  const [ready, setReady] = useState(false)
  const create = useMutation({
    mutationFn: async (form: FormData) => {
      const name = String(form.get('name')).trim()
      const { id: agentId } = await call('POST', '/agents', { body: { name } })
      const failed: string[] = []
      const note = (what: string) => (error: unknown) =>
        void failed.push(`${what}: ${error instanceof Error ? error.message : String(error)}`)
      if (kind === 'website') {
        const url = withProtocol(String(form.get('url')).trim())
        const body = { type: 'link', url, linkType: 'crawl' } as const
        await call('POST', '/agents/{agentId}/sources', { params: { agentId }, body }).catch(note(url))
      } else if (kind === 'text') {
        const body = { type: 'text', name: `About ${name}`, content: String(form.get('text')) } as const
        await call('POST', '/agents/{agentId}/sources', { params: { agentId }, body }).catch(note('The text'))
      } else {
        const files = form.getAll('files').filter((file) => file instanceof File)
        for (const file of files) await uploadSource(agentId, file).catch(note(file.name))
      }
      return { agentId, failed }
    },
    onSuccess: ({ failed }) => {
      setProblems(failed)
      void queries.invalidateQueries({ queryKey: ['/agents'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    create.mutate(new FormData(event.currentTarget))
  }
  if (create.data) {
    const { agentId } = create.data
    return (
      <Page title="Your agent is learning" narrow about="Ask it something as soon as the first part is live.">
        <TrainingList agentId={agentId} problems={problems} onReady={() => setReady(true)} />
        {ready && (
          <>
            <Section title="Ask it">
              <Card>
                <ChatPane agentId={agentId} placeholder="What would a visitor ask?" />
              </Card>
            </Section>
            <div>
              <Link to="/agents/$agentId/deploy" params={{ agentId }} className={buttonClass('primary')}>
                Put it on your website
              </Link>
            </div>
          </>
        )}
      </Page>
    )
  }
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

const withProtocol = (address: string): string =>
  /^https?:\/\//i.test(address) ? address : `https://${address}`
