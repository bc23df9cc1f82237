import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Agent, reading } from '../app/api.ts'
import { useAgents, useCan } from '../app/session.ts'
import { Ago } from '../ui/ago.tsx'
import { buttonClass } from '../ui/button.tsx'
import { formatNumber, formatShare } from '../ui/format.ts'
import { Bot, Plus } from '../ui/icons.ts'
import { Badge, Page } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './agents.module.css'
import { daysAgo } from './days.ts'
import { statusOfAgent } from './status.ts'

export function AgentsPage() {
  const agents = useAgents()
  const can = useCan()
  const create = can('agents:write') && (
    <Link to="/agents/new" className={buttonClass('primary')}>
      <Plus size={16} aria-hidden /> New agent
    </Link>
  )
  return (
    <Page title="Agents" actions={agents.data?.data.length !== 0 && create}>
      <Loaded of={agents}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty icon={Bot} title="No agent yet" action={create}>
              An agent answers from what you give it: a website, files, or a text.
            </Empty>
          ) : (
            <ul className={classes.cards}>
              {data.map((agent) => (
                <AgentCard key={agent.id} agent={agent} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Page>
  )
}

const UNREAD = { tone: 'danger', label: 'Not trained' } as const

/**
 * Returns why an agent has nothing to answer from although it was given something to read. The status alone does not
 * tell it from an agent without sources.
 */
function useProblem({ id: agentId, status }: Agent): string | null {
  const can = useCan()
  const { data } = useQuery({
    ...reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
    enabled: can('sources:read') && status === 'untrained',
  })
  const failed = data?.data.filter((source) => source.status === 'failed') ?? []
  if (failed.length === 0) return null
  return failed.every(({ type }) => type === 'link')
    ? 'Its website could not be read'
    : 'Its sources could not be read'
}

function AgentCard({ agent }: { agent: Agent }) {
  const can = useCan()
  const { data } = useQuery({
    ...reading('/agents/{agentId}/insights', {
      params: { agentId: agent.id },
      query: { startDate: daysAgo(6) },
    }),
    enabled: can('conversations:read'),
    staleTime: 60_000,
  })
  const problem = useProblem(agent)
  const { tone, label } = problem ? UNREAD : statusOfAgent(agent.status)
  return (
    <li className={classes.card}>
      <div className={classes.cardHead}>
        <Link to={problem ? '/agents/$agentId/start' : '/agents/$agentId'} params={{ agentId: agent.id }}>
          {agent.name}
        </Link>
        <Badge tone={tone}>{label}</Badge>
      </div>
      <dl className={classes.numbers}>
        <div>
          <dt>Chats, 7 days</dt>
          <dd>{data ? formatNumber(data.totals.conversations) : '–'}</dd>
        </div>
        <div>
          <dt>Resolved</dt>
          <dd>{formatShare(data?.totals.deflection ?? null)}</dd>
        </div>
        <div>
          <dt>Credits, month</dt>
          <dd>{formatNumber(agent.creditsUsed)}</dd>
        </div>
      </dl>
      <p className={classes.faint}>
        {problem ? (
          problem
        ) : agent.lastTrainedAt ? (
          <>
            Trained <Ago at={agent.lastTrainedAt} />
          </>
        ) : (
          'Not trained yet'
        )}
        {' · '}
        {agent.visibility === 'public' ? 'Public' : 'Private'}
      </p>
    </li>
  )
}
