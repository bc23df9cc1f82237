import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useAgent, useAgentId } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { formatNumber } from '../ui/format.ts'
import { Bar, Page } from '../ui/page.tsx'
import { ChatPane } from './chat-pane.tsx'
import classes from './playground.module.css'
import type { Said } from './use-chat.ts'

/** The playground: a chat with the agent, and an inspector that explains each answer. */
export function PlaygroundPage() {
  const agentId = useAgentId()
  const agent = useAgent(agentId).data
  const [run, setRun] = useState(0)
  const [inspected, setInspected] = useState<Said | null>(null)
  const suggestions: string[] = (agent?.suggestedMessages ?? []).flatMap((one) =>
    one.type === 'single' ? [String(one.text)] : [],
  )
  return (
    <Page
      title="Playground"
      about="What it would say, and why."
      full
      actions={
        <Button
          icon={RotateCcw}
          onClick={() => {
            setRun(run + 1)
            setInspected(null)
          }}
        >
          Start over
        </Button>
      }
    >
      <div className={classes.columns}>
        <section className={classes.pane} aria-label="Chat">
          <ChatPane
            key={`${agentId} ${run}`}
            agentId={agentId}
            suggestions={suggestions.slice(0, 4)}
            onInspect={setInspected}
          />
        </section>
        <aside className={classes.inspector} aria-label="Why this answer">
          <h2>Why this answer</h2>
          {inspected ? (
            <Inspector message={inspected} />
          ) : (
            <p>Ask something, and what it was made of stands here.</p>
          )}
        </aside>
      </div>
    </Page>
  )
}

function Inspector({ message }: { message: Said }) {
  const best = Math.max(...message.sources.map(({ score }) => score), 0.000_1)
  return (
    <>
      <dl className={classes.facts}>
        <Fact
          name="First word"
          value={message.firstMs === undefined ? '–' : `${formatNumber(message.firstMs)} ms`}
        />
        <Fact
          name="Whole answer"
          value={message.wholeMs === undefined ? '…' : `${formatNumber(message.wholeMs)} ms`}
        />
        <Fact name="Credits" value={message.credits === undefined ? '–' : formatNumber(message.credits)} />
        <Fact name="Ended by" value={message.finishReason ?? '…'} />
      </dl>
      <section aria-label="Passages">
        <h3>Passages it cites</h3>
        {message.sources.length === 0 ? (
          <p>{message.finishReason ? 'None: it had nothing for this question, or needed nothing.' : '…'}</p>
        ) : (
          <ol className={classes.passages}>
            {message.sources.map((source, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the index is the number that the answer cites
              <li key={at}>
                <header>
                  <strong>
                    {at + 1}. {source.name ?? source.url ?? 'Untitled'}
                  </strong>
                  <small>{source.score.toFixed(2)}</small>
                </header>
                <Bar share={source.score / best} label={`Score of passage ${at + 1}`} />
                <p>{source.quote}</p>
              </li>
            ))}
          </ol>
        )}
      </section>
      {message.tools.length > 0 && (
        <section aria-label="Actions">
          <h3>Actions it ran</h3>
          {message.tools.map(({ id, name, input, output }) => (
            <details key={id} className={classes.tool}>
              <summary>{name}</summary>
              <pre>{JSON.stringify({ input, output }, null, 2)}</pre>
            </details>
          ))}
        </section>
      )}
    </>
  )
}

const Fact = ({ name, value }: { name: string; value: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)
