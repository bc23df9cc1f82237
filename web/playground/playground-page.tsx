import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { MissingModels } from '../agents/missing-models.tsx'
import type { Agent } from '../app/api.ts'
import { useAgent, useAgentId, useCan, useMe } from '../app/session.ts'
import { forget, useKept } from '../app/use-kept.ts'
import { Button } from '../ui/button.tsx'
import { Lock, RotateCcw } from '../ui/icons.ts'
import { Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { ChatPane } from './chat-pane.tsx'
import { Compare } from './compare.tsx'
import { Inspector } from './inspector.tsx'
import classes from './playground.module.css'
import { RunSettings, type TrialContext } from './run-settings.tsx'
import { draftOf, isSame, settingsOf } from './settings.ts'
import type { TrialMessage } from './use-chat.ts'

/** The playground: a chat with drafts of settings, an inspector for each answer, and a comparison of settings. */
export function PlaygroundPage() {
  const agentId = useAgentId()
  const agent = useAgent(agentId)
  const navigate = useNavigate()
  const can = useCan()
  const { mode = 'chat' } = useSearch({ strict: false })
  const [run, setRun] = useState(0)
  if (useMe().data && !can('agents:write')) {
    return (
      <Page title="Playground">
        <Empty icon={Lock} title="This page is for people who build the agent">
          What is tried here costs no credits, so it needs a role that may change agents. An owner or admin of
          the workspace can give you one under Members.
        </Empty>
      </Page>
    )
  }
  return (
    <Page
      title="Playground"
      about={
        <>
          Try what the agent would say, and see why. Runs cost no credits and are no conversations of
          customers.{' '}
          {can('conversations:read') && (
            <Link to="/agents/$agentId/conversations" params={{ agentId }} search={{ source: 'Playground' }}>
              Earlier runs
            </Link>
          )}
        </>
      }
      full
      actions={
        <Button
          icon={RotateCcw}
          onClick={() => {
            forget(`playground ${agentId}`)
            setRun(run + 1)
          }}
        >
          Start over
        </Button>
      }
    >
      <Loaded of={agent}>
        {(data) => (
          <Tabs
            label="Playground"
            chosen={mode}
            onChoose={(id) => void navigate({ to: '.', search: { mode: id }, replace: true })}
            items={[
              { id: 'chat', label: 'Chat', content: <Chat key={`${agentId} ${run}`} agent={data} /> },
              {
                id: 'compare',
                label: 'Compare',
                content: <Compare key={`${agentId} ${run}`} agent={data} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

function Chat({ agent }: { agent: Agent }) {
  const navigate = useNavigate()
  const version = useSearch({ strict: false }).version === 'draft' ? 'draft' : 'live'
  const [inspected, setInspected] = useState<{ message: TrialMessage; question: string } | null>(null)
  const name = `playground ${agent.id} chat`
  const [settings, setSettings] = useKept(
    `${name} settings`,
    () => settingsOf(agent),
    (now) => !isSame(now, settingsOf(agent)),
  )
  const [place, setPlace] = useKept<TrialContext>(
    `${name} place`,
    () => ({ channel: 'chat_widget' }),
    ({ channel, contactId }) => channel !== 'chat_widget' || contactId !== undefined,
  )
  const suggestions: string[] = (agent.suggestedMessages ?? []).flatMap((one) =>
    one.type === 'single' ? [String(one.text)] : [],
  )
  return (
    <div className={classes.columns}>
      <section className={classes.pane} aria-label="Chat">
        <RunSettings
          agent={agent}
          settings={settings}
          place={place}
          version={version}
          onSettings={setSettings}
          onVersion={(chosen) => void navigate({ to: '.', search: { version: chosen }, replace: true })}
          onPlace={setPlace}
        />
        <ChatPane
          agentId={agent.id}
          name={name}
          suggestions={suggestions.slice(0, 4)}
          draft={version === 'draft' ? { ...place, version } : { ...draftOf(settings), ...place }}
          onInspect={setInspected}
        />
      </section>
      <aside className={classes.inspector} aria-label="Why this answer">
        <h2>Why this answer</h2>
        {inspected ? (
          <Inspector key={inspected.message.id} agentId={agent.id} {...inspected} />
        ) : (
          <p>Ask something, and what the answer was made of stands here.</p>
        )}
        <MissingModels />
      </aside>
    </div>
  )
}
