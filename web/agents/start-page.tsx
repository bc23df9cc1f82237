import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { call, type Source } from '../app/api.ts'
import { fetchAgain } from '../app/queries.ts'
import { useAgentId, useCan } from '../app/session.ts'
import { useMutation } from '../app/use-mutation.ts'
import { ChatPane } from '../playground/chat-pane.tsx'
import { AddSource, type NewKind } from '../sources/add-source.tsx'
import { isAnswering, TrainingList, useSources } from '../sources/training-list.tsx'
import { typedUrl } from '../sources/typed-url.ts'
import { UploadList, useUploads } from '../sources/uploads.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { Actions, FilePicker, Form, TextField } from '../ui/field.tsx'
import { CircleAlert, Globe, NotebookPen, RefreshCw, Upload } from '../ui/icons.ts'
import { Card, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { LocalModel } from '../workspace/local-model.tsx'
import classes from './agents.module.css'
import { addFirstSource, type FirstSource, takeFirstSource } from './first-source.ts'
import { MissingModels } from './missing-models.tsx'
import { isBusy } from './status.ts'

const SOURCES = '/agents/{agentId}/sources'

/** The first steps with an agent: what it has read, what it could not read, a chat, and the way to a website. */
export function StartPage() {
  const agentId = useAgentId()
  return <Start key={agentId} agentId={agentId} />
}

function Start({ agentId }: { agentId: string }) {
  const can = useCan()
  const sources = useSources(agentId)
  const uploads = useUploads(agentId)
  const add = useMutation({
    mutationFn: (first: FirstSource) => addFirstSource(agentId, first),
    onSettled: lookAgain,
  })
  const { mutate } = add
  useEffect(() => {
    const first = takeFirstSource(agentId)
    if (first) mutate(first)
  }, [agentId, mutate])
  return (
    <Loaded of={sources}>
      {({ data }) => {
        const all = data.filter(({ status }) => status !== 'toBeDeleted')
        const failed = all.filter(({ status }) => status === 'failed')
        const isLearning = add.isPending || all.some(isBusy)
        const isLive = all.some(isAnswering)
        const refused = add.data ?? []
        const isWhole = isLive && failed.length === 0 && refused.length === 0
        return (
          <Page narrow {...headOf({ isLearning, isLive, isWhole, failed })}>
            {all.length > failed.length && (
              <TrainingList sources={all.filter(({ status }) => status !== 'failed')} />
            )}
            {failed.map((source) => (
              <Unread key={source.id} agentId={agentId} source={source} isOnly={all.length === 1} />
            ))}
            {refused.map((sentence) => (
              <Card key={sentence}>
                <Said>{sentence}</Said>
              </Card>
            ))}
            {!isLearning && !isWhole && can('sources:write') && (
              <AddAnother agentId={agentId} onFiles={uploads.add} />
            )}
            <UploadList uploads={uploads} />
            {isLive && (
              <Section title="Ask it">
                <Card>
                  <ChatPane
                    agentId={agentId}
                    name={`${agentId} start`}
                    placeholder="What would a visitor ask?"
                  />
                </Card>
                <MissingModels className={classes.faint} />
              </Section>
            )}
            {can('agents:read') && <LocalModel />}
            <div className={classes.choices}>
              {isLive && (
                <Link to="/agents/$agentId/deploy" params={{ agentId }} className={buttonClass('primary')}>
                  Put it on your website
                </Link>
              )}
              <Link to="/agents/$agentId" params={{ agentId }} className={buttonClass()}>
                Open the agent
              </Link>
            </div>
          </Page>
        )
      }}
    </Loaded>
  )
}

type Progress = { isLearning: boolean; isLive: boolean; isWhole: boolean; failed: Source[] }

function headOf({ isLearning, isLive, isWhole, failed }: Progress): { title: string; about: string } {
  if (isLearning)
    return { title: 'Your agent is learning', about: 'Ask it something as soon as the first part is live.' }
  if (isWhole)
    return {
      title: 'Your agent is ready',
      about: 'Everything is live. Ask it something, then put it on your website.',
    }
  if (isLive) return { title: 'Part of it could not be read', about: 'The agent answers from the rest.' }
  const isWebsite = failed.length > 0 && failed.every(({ type }) => type === 'link')
  return {
    title: isWebsite ? 'The website could not be read' : 'Your agent has nothing to read',
    about: 'The agent can answer questions once it has read something.',
  }
}

function lookAgain(): void {
  for (const key of [SOURCES, `${SOURCES}/summary`, '/agents', '/agents/{agentId}']) void fetchAgain(key)
}

const Said = ({ children }: { children: string }) => (
  <p className={classes.said} role="alert">
    <CircleAlert size={18} className={classes.todo} aria-hidden />
    <span>{children}</span>
  </p>
)

type UnreadProps = { agentId: string; source: Source; isOnly: boolean }

/** A source that could not be read: why, and what can be done about it. */
function Unread({ agentId, source, isOnly }: UnreadProps) {
  const can = useCan()
  const navigate = useNavigate()
  const [isCorrecting, setIsCorrecting] = useState(false)
  const params = { agentId, sourceId: source.id }
  const again = useMutation({
    mutationFn: () => call('POST', `${SOURCES}/{sourceId}/refresh`, { params }),
    onSuccess: lookAgain,
  })
  const remove = useMutation({
    mutationFn: () => call('DELETE', `${SOURCES}/{sourceId}`, { params }),
    onSuccess: () => {
      lookAgain()
      if (isOnly) void navigate({ to: '/agents/$agentId', params: { agentId } })
    },
  })
  const correct = useMutation({
    mutationFn: async (address: string) => {
      const url = typedUrl(address)
      if (URL.parse(url.url)?.href === source.name) return again.mutateAsync()
      const linkType = (source.metadata as { type: 'crawl' }).type
      await call('POST', SOURCES, { params: { agentId }, body: { type: 'link', linkType, ...url } })
      return call('DELETE', `${SOURCES}/{sourceId}`, { params })
    },
    onSuccess: lookAgain,
  })
  const submit = (fields: FormData): void => correct.mutate(String(fields.get('address')).trim())
  return (
    <Card>
      <div className={classes.steps}>
        <div>
          <h2>{source.name}</h2>
          <Said>{source.error ?? 'It could not be read.'}</Said>
        </div>
        {can('sources:write') && (
          <div className={classes.choices}>
            <Button icon={RefreshCw} pending={again.isPending} onClick={() => again.mutate()}>
              Try again
            </Button>
            {source.type === 'link' && !isCorrecting && (
              <Button onClick={() => setIsCorrecting(true)}>Correct the address</Button>
            )}
            <Button kind="quiet" pending={remove.isPending} onClick={() => remove.mutate()}>
              Go on without it
            </Button>
          </div>
        )}
        {isCorrecting && (
          <Form save={correct} onSubmit={submit}>
            <TextField
              label="Address of the website"
              name="address"
              inputMode="url"
              defaultValue={source.name ?? ''}
              required
              autoFocus
            />
            <Actions>
              <Button kind="primary" type="submit" pending={correct.isPending}>
                Read this address
              </Button>
              <Button kind="quiet" onClick={() => setIsCorrecting(false)}>
                Cancel
              </Button>
            </Actions>
          </Form>
        )}
      </div>
    </Card>
  )
}

function AddAnother({ agentId, onFiles }: { agentId: string; onFiles: (files: File[]) => void }) {
  const [adding, setAdding] = useState<NewKind | null>(null)
  const picker = useRef<HTMLInputElement>(null)
  return (
    <Section title="Add another source" about="The agent answers only from its sources.">
      <div className={classes.choices}>
        <Button icon={Upload} onClick={() => picker.current?.click()}>
          Upload files
        </Button>
        <Button icon={NotebookPen} onClick={() => setAdding('text')}>
          Write a text
        </Button>
        <Button icon={Globe} onClick={() => setAdding('link')}>
          Another website
        </Button>
      </div>
      <FilePicker ref={picker} label="Files to add" onPick={onFiles} />
      {adding && <AddSource kind={adding} agentId={agentId} onClose={() => setAdding(null)} />}
    </Section>
  )
}
