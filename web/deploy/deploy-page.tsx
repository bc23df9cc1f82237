import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { type Agent, call, type InputOf } from '../app/api.ts'
import { queries } from '../app/queries.ts'
import { useAgent, useAgentId } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { Check, Form, FormActions, FormProblem, Select, TextArea, TextField } from '../ui/field.tsx'
import { Badge, Card, Page, Section } from '../ui/page.tsx'
import { Loaded, sentenceOf } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { tell } from '../ui/toast.tsx'
import { Code } from './code.tsx'
import classes from './deploy.module.css'

type AgentChange = InputOf<'PUT', '/agents/{agentId}'>['body']

/** The page for deploying an agent: website widget, a page of its own, and API. */
export function DeployPage() {
  const agentId = useAgentId()
  const agent = useAgent(agentId)
  return (
    <Page title="Deploy" about="Put it where people ask.">
      <Loaded of={agent}>
        {(data) => (
          <Tabs
            label="Ways to deploy"
            items={[
              { id: 'widget', label: 'Website', content: <Website key={data.id} agent={data} /> },
              { id: 'page', label: 'Page', content: <OwnPage agent={data} /> },
              { id: 'api', label: 'API', content: <Api agent={data} /> },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

function useSaveAgent(agentId: string) {
  return useMutation({
    meta: { quiet: true },
    mutationFn: (body: AgentChange) => call('PUT', '/agents/{agentId}', { params: { agentId }, body }),
    onSuccess: () => {
      tell('done', 'Saved.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}'] })
    },
  })
}

function Website({ agent }: { agent: Agent }) {
  return (
    <div className={classes.parts}>
      <Public agent={agent}>
        <Section title="Snippet" about="Put it before </body> on every page that should have the chat.">
          <Code
            label="The snippet"
            text={`<script src="${location.origin}/widget.js" data-agent="${agent.id}" defer></script>`}
          />
        </Section>
        <AllowedSites agent={agent} />
      </Public>
      <Looks agent={agent} />
    </div>
  )
}

/** Renders `children` for a public agent. For a private agent, offers to make it public instead. */
function Public({ agent, children }: { agent: Agent; children: ReactNode }) {
  const save = useSaveAgent(agent.id)
  if (agent.visibility === 'public') return <>{children}</>
  return (
    <Card className={classes.notice}>
      <div>
        <h2>
          This agent is <Badge>private</Badge>
        </h2>
        <p>Visitors can chat only with a public agent. It goes on answering from its sources alone.</p>
      </div>
      <Button kind="primary" pending={save.isPending} onClick={() => save.mutate({ visibility: 'public' })}>
        Make it public
      </Button>
    </Card>
  )
}

function AllowedSites({ agent }: { agent: Agent }) {
  const save = useSaveAgent(agent.id)
  const [text, setText] = useState((agent.allowedDomains ?? []).join('\n'))
  const domains = text.split(/[\s,]+/).filter(Boolean)
  return (
    <Section
      title="Allowed sites"
      about="Which websites may show the chat. Leave it empty to allow all of them."
    >
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate({ allowedDomains: domains.length > 0 ? domains : null })
        }}
      >
        <TextArea
          label="Domains"
          hideLabel
          rows={2}
          placeholder="example.com"
          value={text}
          onChange={({ target }) => setText(target.value)}
          hint="One per line. example.com includes its subdomains."
          error={save.error && sentenceOf(save.error)}
        />
        <FormActions>
          <Button small type="submit" pending={save.isPending}>
            Save the sites
          </Button>
        </FormActions>
      </Form>
    </Section>
  )
}

const THEMES = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'Same as the visitor’s system'],
] as const
const SIDES = [
  ['right', 'Right'],
  ['left', 'Left'],
] as const
const COLORS = [
  ['headerColor', 'Header'],
  ['userMessageColor', 'Visitor’s messages'],
  ['buttonColor', 'Button'],
] as const
const SWITCHES = [
  ['showFeedback', 'Answers can be rated'],
  ['showCopyButton', 'Answers can be copied'],
  ['showAttachments', 'Visitors can send files'],
  ['showDictation', 'Visitors can dictate'],
] as const

type Chat = Agent['styles']['chat']

/** The settings of the chat's appearance, next to a live preview of the chat. */
function Looks({ agent }: { agent: Agent }) {
  const saved = agent.styles.chat
  const [draft, setDraft] = useState<Chat>(saved)
  const set = <K extends keyof Chat>(name: K, value: Chat[K]) =>
    setDraft((now) => ({ ...now, [name]: value }))
  const changed = (Object.keys(draft) as (keyof Chat)[]).filter(
    (name) => JSON.stringify(draft[name]) !== JSON.stringify(saved[name]),
  )
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      call('PUT', '/agents/{agentId}/styles', {
        params: { agentId: agent.id },
        body: { styles: { chat: Object.fromEntries(changed.map((name) => [name, draft[name]])) } },
      }),
    onSuccess: () => {
      tell('done', 'Visitors see it within a minute.')
      return queries.invalidateQueries({ queryKey: ['/agents/{agentId}'] })
    },
  })
  return (
    <Section title="Looks">
      <div className={classes.looks}>
        <Form
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate()
          }}
        >
          <TextField
            label="Name in the chat"
            value={draft.displayName}
            placeholder={agent.name}
            onChange={({ target }) => set('displayName', target.value)}
          />
          <TextField
            label="Placeholder of the message field"
            value={draft.messagePlaceholder}
            onChange={({ target }) => set('messagePlaceholder', target.value)}
          />
          <TextField
            label="Line below the message field"
            value={draft.footer}
            onChange={({ target }) => set('footer', target.value)}
          />
          <div className={classes.pair}>
            <Select
              label="Theme"
              options={THEMES}
              value={draft.theme}
              onChange={({ target }) => set('theme', target.value as Chat['theme'])}
            />
            <Select
              label="Chat button on the"
              options={SIDES}
              value={draft.alignChatButton}
              onChange={({ target }) => set('alignChatButton', target.value as Chat['alignChatButton'])}
            />
          </div>
          <div className={classes.colors}>
            {COLORS.map(([name, label]) => (
              <TextField
                key={name}
                label={label}
                type="color"
                value={/^#[\da-f]{6}$/i.test(draft[name]) ? draft[name] : '#ffffff'}
                onChange={({ target }) => set(name, target.value)}
              />
            ))}
          </div>
          <div>
            {SWITCHES.map(([name, label]) => (
              <Check
                key={name}
                label={label}
                checked={draft[name]}
                onChange={({ target }) => set(name, target.checked)}
              />
            ))}
          </div>
          {save.error && <FormProblem>{sentenceOf(save.error)}</FormProblem>}
          <FormActions>
            <Button kind="primary" type="submit" disabled={changed.length === 0} pending={save.isPending}>
              Save the looks
            </Button>
            {changed.length > 0 && (
              <Button kind="quiet" onClick={() => setDraft(saved)}>
                Discard
              </Button>
            )}
          </FormActions>
        </Form>
        {agent.visibility === 'public' ? (
          <Preview agentId={agent.id} chat={draft} />
        ) : (
          <p className={classes.hidden}>The preview shows when the agent is public.</p>
        )}
      </div>
    </Section>
  )
}

/** Shows the real chat in an iframe and sends it the unsaved appearance. */
function Preview({ agentId, chat }: { agentId: string; chat: Chat }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isReady, setIsReady] = useState(false)
  useEffect(() => {
    // The chat ignores drafts until it has loaded its saved appearance, so the draft is sent again.
    const timers = (isReady ? [0, 500, 1_500] : []).map((ms) =>
      setTimeout(
        () => frame.current?.contentWindow?.postMessage({ parley: 'preview', chat }, location.origin),
        ms,
      ),
    )
    return () => timers.forEach(clearTimeout)
  }, [chat, isReady])
  return (
    <iframe
      ref={frame}
      className={classes.preview}
      src={`/widget/${agentId}`}
      title="The chat as it would look"
      onLoad={() => setIsReady(true)}
    />
  )
}

const OwnPage = ({ agent }: { agent: Agent }) => (
  <Public agent={agent}>
    <Section title="A page of its own" about="For a link in a mail, on a poster, or behind a QR code.">
      <Code label="Address of the page" text={`${location.origin}/widget/${agent.id}`} />
      <p>
        <a href={`/widget/${agent.id}`} target="_blank" rel="noreferrer">
          Open the page
        </a>
      </p>
    </Section>
  </Public>
)

function Api({ agent }: { agent: Agent }) {
  const base = `${location.origin}/api/v2`
  return (
    <div className={classes.parts}>
      <Section title="From a command line" about="Make a key under Workspace, API keys.">
        <Code
          label="curl"
          text={`curl -N ${base}/agents/${agent.id}/chat \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"message": "How long is the warranty?", "stream": true}'`}
        />
      </Section>
      <Section title="From your own code" about="With the folder client/ of the repository, on your server.">
        <Code
          label="TypeScript"
          text={`import { createParley } from './client/parley.ts'

const parley = createParley({
  baseUrl: '${base}',
  headers: { authorization: \`Bearer \${process.env.PARLEY_KEY}\` },
})
for await (const { event } of await parley.chat('${agent.id}', { message: 'Hello' })) {
  if (event.type === 'text-delta') process.stdout.write(event.delta)
}`}
        />
        <p>
          <a href="/reference" target="_blank" rel="noreferrer">
            Every endpoint
          </a>
        </p>
      </Section>
    </div>
  )
}
