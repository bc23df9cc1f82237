import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { visibleText } from '../../server/platform/text/words/words.ts'
import { type OutputOf, reading } from '../app/api.ts'
import { SaveCase } from '../evaluations/save-case.tsx'
import { Button } from '../ui/button.tsx'
import { formatDollars, formatNumber, formatShare, plural } from '../ui/format.ts'
import { Badge, Bar } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './playground.module.css'
import type { TrialMessage } from './use-chat.ts'

const PATH = '/agents/{agentId}/playground/runs/{messageId}'
type MadeOf = OutputOf<'GET', typeof PATH>['data']

type InspectorProps = { agentId: string; question: string; message: TrialMessage }

/** Shows what went into an answer: passages, prompt, actions, tokens, times and credits. */
export function Inspector({ agentId, question, message }: InspectorProps) {
  const [saving, setSaving] = useState(false)
  const { messageId = '', finishReason, problem } = message
  const isOver = finishReason !== undefined || problem !== undefined
  const made = useQuery({
    ...reading(PATH, { params: { agentId, messageId } }),
    enabled: messageId !== '' && isOver,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <Facts message={message} made={made.data?.data} />
      {isOver && messageId !== '' && (
        <Loaded of={made}>
          {({ data }) => <Details agentId={agentId} question={question} message={message} made={data} />}
        </Loaded>
      )}
      {isOver && (
        <div>
          <Button small onClick={() => setSaving(true)}>
            Save as an evaluation question
          </Button>
        </div>
      )}
      {saving && (
        <SaveCase agentId={agentId} question={question} answer={message} onClose={() => setSaving(false)} />
      )}
    </>
  )
}

export const milliseconds = (ms: number | null | undefined): string =>
  ms === undefined || ms === null ? '–' : `${formatNumber(ms)} ms`

export const sum = (numbers: (number | null | undefined)[]): string => {
  const known = numbers.filter((one) => typeof one === 'number')
  return known.length === 0 ? '–' : formatNumber(known.reduce((total, one) => total + one, 0))
}

export function Facts({ message, made }: { message: TrialMessage; made: MadeOf | undefined }) {
  const steps = made?.steps ?? []
  const facts: [string, string][] = [
    ['First word', milliseconds(message.firstMs)],
    ['Whole answer', milliseconds(message.wholeMs)],
    ['Tokens read', sum(steps.map(({ inputTokens }) => inputTokens))],
    ['Tokens written', sum(steps.map(({ outputTokens }) => outputTokens))],
    ['For a customer', made ? plural(made.credits, 'credit') : '–'],
    ['Ended by', message.finishReason ?? (message.problem ? 'error' : '…')],
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

function embedded({ model, tokens, estimated, dollars }: NonNullable<MadeOf['embedding']>): string {
  if (tokens === 0) return `${model} knew the vector of the question.`
  const price = dollars === null ? '' : ` for ${formatDollars(dollars)}`
  return `${model} read ${estimated > 0 ? 'about ' : ''}${plural(tokens, 'token')}${price}.`
}

type DetailsProps = {
  agentId: string
  question: string
  message: Pick<TrialMessage, 'sources' | 'tools'>
  made: MadeOf
}

/** Shows the passages and the actions of an answer, and what its model read where that is kept. */
export function Details({ agentId, question, message, made }: DetailsProps) {
  return (
    <>
      <section aria-label="Passages">
        <h3>Passages it was given</h3>
        <p className={classes.soft}>
          {made.passages.length === 0
            ? 'None: the sources hold nothing near the question.'
            : `Found in ${formatNumber(made.searchMs)} ms. The best passages hold ${formatShare(made.confidence)} of the question, by the rarity of its words.`}
          {made.searchedFor && made.searchedFor !== question && ` It searched for “${made.searchedFor}”.`}
          {made.embedding && ` ${embedded(made.embedding)}`}
        </p>
        {made.vectorProblem && <p role="status">{made.vectorProblem}</p>}
        <ol className={classes.passages}>
          {made.passages.map((passage) => (
            <li key={passage.number}>
              <header>
                <Link
                  to="/agents/$agentId/sources/$sourceId"
                  params={{ agentId, sourceId: passage.sourceId }}
                >
                  {passage.number}. {passage.sourceName ?? passage.url ?? 'Untitled'}
                </Link>
                <small>{formatShare(passage.score)}</small>
              </header>
              <Bar share={passage.score} label={`Score of passage ${passage.number}`} />
              <small className={classes.soft}>
                {passage.headingPath.join(' › ')}
                {passage.page !== null && ` page ${passage.page}`}{' '}
                {message.sources.some(
                  ({ id, quote }) => id === passage.sourceId && covers(passage.text, quote),
                ) && <Badge tone="success">cited</Badge>}
              </small>
              {passage.text !== '' && (
                <details className={classes.quoted}>
                  <summary>{passage.text.slice(0, 90)}</summary>
                  <p dir="auto">{passage.text}</p>
                </details>
              )}
            </li>
          ))}
        </ol>
      </section>
      {message.tools.length > 0 && (
        <section aria-label="Actions">
          <h3>Actions it ran</h3>
          {message.tools.map(({ id, name, input, output }) => (
            <details key={id} className={classes.tool}>
              <summary>{name}</summary>
              <h4>Input</h4>
              <Json value={input} />
              <h4>Output</h4>
              {output === undefined ? <p>It waits for your application.</p> : <Json value={output} />}
            </details>
          ))}
        </section>
      )}
      {made.steps.some(({ prompt }) => prompt.length > 0) && <Prompt steps={made.steps} />}
    </>
  )
}

function Prompt({ steps }: Pick<MadeOf, 'steps'>) {
  return (
    <section aria-label="Prompt">
      <h3>The prompt, as the model got it</h3>
      {steps.map((step, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: steps keep their order
        <details key={at} className={classes.tool}>
          <summary>
            {steps.length > 1 ? `Step ${at + 1}: ` : ''}
            {step.model}, {milliseconds(step.ms)}
          </summary>
          {step.prompt.map(({ role, text }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages keep their order
            <div key={index}>
              <h4>{role}</h4>
              <Raw label={`Message ${index + 1} of the prompt`} text={text} />
            </div>
          ))}
          {step.reasoning && (
            <div>
              <h4>reasoning, which no customer sees</h4>
              <Raw label="Reasoning" text={step.reasoning} />
            </div>
          )}
          {step.tools.length > 0 && <p>It could call: {step.tools.join(', ')}.</p>}
        </details>
      ))}
    </section>
  )
}

/** Whether a quote, which may have been shortened, is from a passage. */
const covers = (text: string, quote: string): boolean => {
  const words = (of: string) => of.replace(/\s+/g, ' ').trim()
  return words(visibleText(text)).includes(words(quote).slice(0, 60))
}

const Json = ({ value }: { value: unknown }) => (
  <Raw label="JSON" text={JSON.stringify(value, null, 2) ?? 'nothing'} />
)

const Raw = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
  <section className={classes.raw} aria-label={label} tabIndex={0} dir="auto">
    {text}
  </section>
)
