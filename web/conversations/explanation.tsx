import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Message, type OutputOf, reading } from '../app/api.ts'
import { Details, milliseconds, sum } from '../playground/inspector.tsx'
import classes from '../playground/playground.module.css'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { formatDollars, formatShare } from '../ui/format.ts'
import { Search } from '../ui/icons.ts'
import { Loaded } from '../ui/state.tsx'
import own from './conversations.module.css'
import { heldWords } from './message-view.tsx'

const PATH = '/agents/{agentId}/conversations/{conversationId}/messages/{messageId}/explanation'
type Explained = OutputOf<'GET', typeof PATH>['data']

type ExplanationProps = { agentId: string; conversationId: string; message: Message }

/** A button that shows what an answer of the agent was made of. */
export function Explanation({ agentId, conversationId, message }: ExplanationProps) {
  const [open, setOpen] = useState(false)
  const params = { agentId, conversationId, messageId: message.id }
  const explained = useQuery({ ...reading(PATH, { params }), enabled: open })
  return (
    <>
      <Button small kind="quiet" icon={Search} onClick={() => setOpen(true)}>
        Explain
      </Button>
      <Dialog title="How this answer was made" drawer="right" isOpen={open} onClose={() => setOpen(false)}>
        <Loaded of={explained}>
          {({ data }) => (
            <div className={own.explained}>
              <Facts explained={data} />
              {data.madeOf === null ? (
                <p>Nothing more was recorded. The built-in responder quotes the documents as they are.</p>
              ) : (
                <>
                  <Details
                    agentId={agentId}
                    question=""
                    message={{ sources: data.sources, tools: [] }}
                    made={data.madeOf}
                  />
                  {data.madeOf.steps.every(({ prompt }) => prompt.length === 0) && (
                    <p className={classes.soft}>
                      What the model read is not kept. The settings of the agent say for how many days it is.
                    </p>
                  )}
                </>
              )}
            </div>
          )}
        </Loaded>
      </Dialog>
    </>
  )
}

const OUTCOMES: Record<NonNullable<Explained['outcome']>, string> = {
  answered: 'Answered',
  partly: 'Answered in part',
  not_found: 'Not found',
  handed_over: 'Handed over',
  refused: 'Refused',
}

function Facts({ explained }: { explained: Explained }) {
  const { model, outcome, score, finishReason, dollars, ungrounded = [], madeOf } = explained
  const steps = madeOf?.steps ?? []
  const facts: [string, string][] = [
    ['Model', model ?? '–'],
    ['Outcome', outcome === null ? 'Not reported' : OUTCOMES[outcome]],
    ...(explained.forbiddenTopic ? [['Forbidden topic', explained.forbiddenTopic] as [string, string]] : []),
    ['Ended by', finishReason ?? '–'],
    ['Confidence', score === null ? '–' : formatShare(score)],
    ['Cost', dollars === null ? '–' : formatDollars(dollars)],
    ['First word', milliseconds(steps[0]?.firstMs)],
    ['Tokens read', sum(steps.map(({ inputTokens }) => inputTokens))],
    ['From the cache', sum(steps.map(({ cachedTokens }) => cachedTokens))],
    ['Tokens written', sum(steps.map(({ outputTokens }) => outputTokens))],
    ['Reasoning', sum(steps.map(({ reasoningTokens }) => reasoningTokens))],
    ['Calls of the model', String(steps.length)],
    ...(explained.held
      ? [
          ['Held for a person', explained.heldOutcome ? heldWords(explained.heldOutcome) : 'It waits.'] as [
            string,
            string,
          ],
        ]
      : []),
    ['Not in what it was given', ungrounded.map(({ text }) => text).join(', ') || 'nothing'],
  ]
  return (
    <dl className={classes.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
