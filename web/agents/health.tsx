import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Agent, type OutputOf, reading } from '../app/api.ts'
import { base } from '../app/base.ts'
import { useAgent, useCan } from '../app/session.ts'
import { Ago } from '../ui/ago.tsx'
import { formatBytes, formatDollars, formatNumber, plural } from '../ui/format.ts'
import { CircleAlert, CircleCheck, CircleX, LoaderCircle, Sparkles } from '../ui/icons.ts'
import { Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './agents.module.css'
import { useMissingModels } from './missing-models.tsx'

/** How often the page looks for what has begun to fail. */
const AGAIN_MS = 30_000

/** Shows whether everything that an agent needs works, and what to do about what does not. */
export function Health({ agentId }: { agentId: string }) {
  const can = useCan()
  const agent = useAgent(agentId)
  return (
    <Section title="Health">
      <Loaded of={agent}>
        {(data) => (
          <ul className={classes.rows}>
            {can('sources:read') && <Sources agent={data} />}
            {can('agents:read') && <Models agent={data} />}
            {can('agents:read') && <Money agentId={agentId} />}
            {can('agents:read') && <AnswerTests agentId={agentId} />}
            {can('agents:read') && <Isolation />}
            {can('messaging:read') && <Channels agentId={agentId} />}
            <Reach agent={data} />
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

type State = 'good' | 'todo' | 'bad' | 'busy' | 'more'
const ICONS = {
  good: [CircleCheck, classes.ok, 'Good'],
  todo: [CircleAlert, classes.todo, 'To do'],
  bad: [CircleX, classes.bad, 'Does not work'],
  busy: [LoaderCircle, classes.todo, 'Under way'],
  more: [Sparkles, classes.more, 'Can be added'],
} as const

export function Line({ state, children }: { state: State; children: ReactNode }) {
  const [Icon, className, label] = ICONS[state]
  return (
    <li>
      <span className={classes.health}>
        <Icon size={18} className={className} aria-label={label} />
        <span>{children}</span>
      </span>
    </li>
  )
}

function Sources({ agent }: { agent: Agent }) {
  const params = { agentId: agent.id }
  const { data } = useQuery({
    ...reading('/agents/{agentId}/sources/health', { params }),
    refetchInterval: AGAIN_MS,
  })
  if (!data) return null
  const { count, size, training, troubled, nearLimit } = data
  if (count === 0)
    return (
      <Line state="todo">
        It has read nothing yet:{' '}
        <Link to="/agents/$agentId/sources" params={params}>
          add a source
        </Link>
      </Line>
    )
  const hidden = troubled - data.data.length
  return (
    <>
      {data.data.map((source) => (
        <Troubled key={source.id} agentId={agent.id} source={source} />
      ))}
      {hidden > 0 && (
        <Line state="bad">
          <Link to="/agents/$agentId/sources" params={params}>
            {plural(hidden, 'more source')} cannot be answered from
          </Link>
        </Line>
      )}
      {nearLimit && (
        <Line state="todo">
          It has {formatNumber(nearLimit.passages)} passages. On the embedded database, answers begin late
          from about {formatNumber(nearLimit.limit)} on when several customers write at once.{' '}
          <a href={`${base}/docs/operations/running.md`} target="_blank" rel="noreferrer">
            Move to PostgreSQL
          </a>
        </Line>
      )}
      {training > 0 && <Line state="busy">{plural(training, 'source')} being read</Line>}
      {troubled === 0 && training < count && (
        <Line state="good">
          <Link to="/agents/$agentId/sources" params={params}>
            {plural(count, 'source')}, {formatBytes(size)}
          </Link>
          {agent.lastTrainedAt && (
            <>
              , trained <Ago at={agent.lastTrainedAt} />
            </>
          )}
        </Line>
      )}
    </>
  )
}

type TroubledSource = OutputOf<'GET', '/agents/{agentId}/sources/health'>['data'][number]

const Troubled = ({ agentId, source }: { agentId: string; source: TroubledSource }) => {
  const { id: sourceId, name, problem, reason } = source
  const link = (
    <Link to="/agents/$agentId/sources/$sourceId" params={{ agentId, sourceId }}>
      {name ?? 'A source'}
    </Link>
  )
  return problem === 'failed' ? (
    <Line state="bad">
      {link} could not be read: {reason ?? 'No reason is known.'} Correct the source and try again.
    </Line>
  ) : (
    <Line state="bad">{link} has no text that can be read. Include pages of it, or remove it.</Line>
  )
}

function Models({ agent }: { agent: Agent }) {
  const { data } = useQuery({ ...reading('/models'), refetchInterval: AGAIN_MS })
  const missing = useMissingModels()
  if (!data) return null
  const model = data.models.find(({ id, isAuto }) => (agent.model === 'auto' ? isAuto : id === agent.model))
  const test = (
    <Link to="/workspace" search={{ tab: 'models' }}>
      Test it under Models
    </Link>
  )
  return (
    <>
      {!model && (
        <Line state="bad">
          The model {agent.model} is not configured any more:{' '}
          <Link to="/agents/$agentId/instructions" params={{ agentId: agent.id }}>
            choose another one
          </Link>
        </Line>
      )}
      {model?.problem && (
        <Line state="bad">
          The last call of the model {model.id} failed: {model.problem} {test}
        </Line>
      )}
      {data.embeddingProblem && (
        <Line state="bad">
          Questions are searched by their words alone: {data.embeddingProblem} {test}
        </Line>
      )}
      {missing.map(({ what, line }) => (
        <Line key={what} state="more">
          {line}
        </Line>
      ))}
    </>
  )
}

/** What the models have cost of the budget, if there is one. */
function Money({ agentId }: { agentId: string }) {
  const { data } = useQuery({
    ...reading('/agents/{agentId}/spending', { params: { agentId } }),
    refetchInterval: AGAIN_MS,
  })
  if (!data?.budget) return null
  const { dollars, budget, state, unpricedCalls } = data
  const isStopped = state === 'reached' && budget.atLimit === 'stop'
  return (
    <Line state={state === 'below' ? 'good' : isStopped ? 'bad' : 'todo'}>
      <Link to="/agents/$agentId/settings" params={{ agentId }} hash="budget">
        {formatDollars(dollars)} of the budget of {formatDollars(budget.dollars)} this month
      </Link>
      {isStopped && ': it calls no model until the month ends'}
      {unpricedCalls > 0 && `, without ${plural(unpricedCalls, 'call')} whose price is not known`}
    </Line>
  )
}

/** What is wrong with the last scheduled test of the answers. */
function AnswerTests({ agentId }: { agentId: string }) {
  const { data } = useQuery({
    ...reading('/agents/{agentId}/answer-schedule', { params: { agentId } }),
    refetchInterval: AGAIN_MS,
  })
  const { alert = null, lastRunId = null } = data?.schedule ?? {}
  if (alert === null) return null
  return (
    <Line state="bad">
      {alert}{' '}
      <Link
        to="/agents/$agentId/evaluations"
        params={{ agentId }}
        search={{ tab: 'answers', ...(lastRunId === null ? {} : { run: lastRunId }) }}
      >
        See the test
      </Link>
    </Line>
  )
}

/** Says when documents could do harm, which only the operator of the installation can prevent. */
function Isolation() {
  const { data } = useQuery({
    ...reading('/health', { query: { details: 'true' } }),
    refetchInterval: AGAIN_MS,
  })
  if (data?.documents !== 'not_isolated') return null
  return (
    <Line state="todo">
      Documents are read by processes that could reach the network, because this system does not allow them to
      be cut off from it:{' '}
      <a href={`${base}/docs/operations/running.md`} target="_blank" rel="noreferrer">
        what the operator can do
      </a>
    </Line>
  )
}

function Channels({ agentId }: { agentId: string }) {
  const { data } = useQuery({
    ...reading('/agents/{agentId}/channels', { params: { agentId } }),
    refetchInterval: AGAIN_MS,
  })
  if (!data) return null
  const { email, messaging } = data
  return (
    <>
      {email && <Channel agentId={agentId} tab="mail" what={`The mailbox ${email.address}`} {...email} />}
      {messaging && <Channel agentId={agentId} tab="messaging" what="WhatsApp" {...messaging} />}
    </>
  )
}

type ChannelProps = {
  agentId: string
  tab: 'mail' | 'messaging'
  what: string
  status: 'connected' | 'failing' | 'untested'
  problem: string | null
}

function Channel({ agentId, tab, what, status, problem }: ChannelProps) {
  const link = (words: string) => (
    <Link to="/agents/$agentId/deploy" params={{ agentId }} search={{ tab }}>
      {words}
    </Link>
  )
  if (status === 'connected') return <Line state="good">{link(`${what} works`)}</Line>
  if (status === 'untested')
    return (
      <Line state="todo">
        {what} has not been used yet: {link('test it')}
      </Line>
    )
  return (
    <Line state="bad">
      {what} does not work. {problem} {link('Correct the settings')}
    </Line>
  )
}

/** Where the agent can be reached, and whether it may still answer. */
const Reach = ({ agent }: { agent: Agent }) => (
  <>
    <Line state={agent.visibility === 'public' ? 'good' : 'todo'}>
      <Link to="/agents/$agentId/deploy" params={{ agentId: agent.id }}>
        {agent.visibility === 'public'
          ? agent.allowedDomains
            ? `On ${agent.allowedDomains.join(', ')}`
            : 'On every website that has its snippet'
          : 'Private: make it public to put it on a website'}
      </Link>
    </Line>
    {agent.creditLimit !== null && (
      <Line state={agent.creditsUsed < agent.creditLimit ? 'good' : 'bad'}>
        <Link to="/agents/$agentId/settings" params={{ agentId: agent.id }}>
          {formatNumber(agent.creditsUsed)} of {plural(agent.creditLimit, 'credit')} this month
        </Link>
      </Line>
    )}
  </>
)
