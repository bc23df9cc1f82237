import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { reading } from '../app/api.ts'
import { useAgent, useAgentId, useCan } from '../app/session.ts'
import { Ago } from '../ui/ago.tsx'
import { buttonClass } from '../ui/button.tsx'
import { formatNumber, formatShare } from '../ui/format.ts'
import { Sparkles } from '../ui/icons.ts'
import { Badge, Page, Section } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './agents.module.css'
import { daysAgo } from './days.ts'
import { Health, Line } from './health.tsx'

/**
 * The overview of an agent: the numbers of the last week, its health, unanswered questions and latest conversations.
 */
export function OverviewPage() {
  const agentId = useAgentId()
  const can = useCan()
  const agent = useAgent(agentId)
  return (
    <Loaded of={agent}>
      {({ name, visibility, lastMessageAt }) => (
        <Page
          title={name}
          about={
            visibility === 'public'
              ? 'Public: visitors can chat with it.'
              : 'Private: only your workspace can chat with it.'
          }
          actions={
            can('chat') && (
              <Link to="/agents/$agentId/playground" params={{ agentId }} className={buttonClass('primary')}>
                <Sparkles size={16} aria-hidden /> Ask it something
              </Link>
            )
          }
        >
          {can('conversations:read') && <Week agentId={agentId} />}
          <div className={classes.columns}>
            <Health agentId={agentId} />
            {can('conversations:read') && <Unanswered agentId={agentId} isAsked={lastMessageAt !== null} />}
            {can('conversations:read') && <Latest agentId={agentId} isAsked={lastMessageAt !== null} />}
          </div>
        </Page>
      )}
    </Loaded>
  )
}

function Week({ agentId }: { agentId: string }) {
  const params = { agentId }
  const now = useQuery(reading('/agents/{agentId}/insights', { params, query: { startDate: daysAgo(6) } }))
  const before = useQuery(
    reading('/agents/{agentId}/insights', {
      params,
      query: { startDate: daysAgo(13), endDate: daysAgo(7) },
    }),
  )
  const last = before.data?.totals
  return (
    <Loaded of={now} lines={2}>
      {({ totals }) => (
        <dl className={classes.grid} aria-label="The last 7 days">
          <Figure
            label="Conversations"
            value={formatNumber(totals.conversations)}
            before={last?.conversations}
          />
          <Figure
            label="Resolved without a person"
            value={formatShare(totals.deflection)}
            before={last && formatShare(last.deflection)}
          />
          <Figure label="Handed to people" value={formatNumber(totals.escalated)} before={last?.escalated} />
          <Figure
            label="Unanswered questions"
            value={formatNumber(totals.unanswered)}
            before={last?.unanswered}
          />
        </dl>
      )}
    </Loaded>
  )
}

const Figure = ({ label, value, before }: { label: string; value: string; before?: ReactNode }) => (
  <div className={classes.number}>
    <dt>{label}</dt>
    <dd>{value}</dd>
    <dd>
      <small>{before === undefined ? 'last 7 days' : <>7 days before: {before}</>}</small>
    </dd>
  </div>
)

function Unanswered({ agentId, isAsked }: { agentId: string; isAsked: boolean }) {
  const open = useQuery(
    reading('/agents/{agentId}/insights/unanswered', {
      params: { agentId },
      query: { status: 'open', limit: 5 },
    }),
  )
  return (
    <Section
      title="Unanswered questions"
      actions={
        (open.data?.data.length ?? 0) > 0 && (
          <Link to="/agents/$agentId/insights" params={{ agentId }}>
            Answer them
          </Link>
        )
      }
    >
      <Loaded of={open}>
        {({ data }) => (
          <ul className={classes.rows}>
            {data.length === 0 &&
              (isAsked ? (
                <Line state="good">None: the agent found something for every question.</Line>
              ) : (
                <li>Nobody has asked anything yet.</li>
              ))}
            {data.map(({ id, question, count }) => (
              <li key={id}>
                <span>{question}</span>
                <Badge>{count}×</Badge>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}

function Latest({ agentId, isAsked }: { agentId: string; isAsked: boolean }) {
  const latest = useQuery(
    reading('/agents/{agentId}/conversations/search', { params: { agentId }, query: { limit: 5 } }),
  )
  return (
    <Section
      title="Latest conversations"
      actions={
        <Link to="/agents/$agentId/conversations" params={{ agentId }}>
          All conversations
        </Link>
      }
    >
      <Loaded of={latest}>
        {({ data }) => (
          <ul className={classes.rows}>
            {data.length === 0 && (
              <li>{isAsked ? 'They are listed here in a moment.' : 'Nobody has asked anything yet.'}</li>
            )}
            {data.map(({ id, title, updatedAt }) => (
              <li key={id}>
                <Link to="/agents/$agentId/conversations" params={{ agentId }} search={{ open: id }}>
                  {title ?? 'Untitled'}
                </Link>
                <span className={classes.faint}>
                  <Ago at={updatedAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  )
}
