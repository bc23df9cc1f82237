import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { useMe } from '../app/session.ts'
import { formatDay, formatNumber, plural } from '../ui/format.ts'
import { Bar, Card, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import classes from './workspace.module.css'

export function Usage() {
  const { data: me } = useMe()
  const usage = useQuery(reading('/usage'))
  return (
    <div className={classes.parts}>
      {me && (
        <Card className={classes.plan}>
          <h2>
            Plan: <span className={classes.planName}>{me.plan}</span>
          </h2>
          <p>
            {me.credits.limit === null
              ? plural(me.credits.used, 'credit')
              : `${formatNumber(me.credits.used)} of ${plural(me.credits.limit, 'credit')}`}{' '}
            used this month
          </p>
          {me.credits.limit !== null && (
            <Bar
              share={me.credits.used / Math.max(1, me.credits.limit)}
              label="Share of this month's credits"
            />
          )}
          <p className={classes.faint}>The count starts again on {formatDay(me.credits.resetsAt)}.</p>
        </Card>
      )}
      <Section title="The last 30 days" about="Credits and replies by day and agent.">
        <Loaded of={usage}>
          {({ days, total }) => (
            <Table label="Usage" head={['Day', 'Agent', 'Replies', 'Credits']}>
              {days.toReversed().map(({ day, agentId, agentName, replies, credits }) => (
                <tr key={`${day} ${agentId}`}>
                  <td className={classes.nowrap}>{formatDay(day)}</td>
                  <td>{agentName ?? 'An agent that was deleted'}</td>
                  <td>{formatNumber(replies)}</td>
                  <td>{formatNumber(credits)}</td>
                </tr>
              ))}
              <tr className={classes.total}>
                <td>Total</td>
                <td />
                <td>{formatNumber(total.replies)}</td>
                <td>{formatNumber(total.credits)}</td>
              </tr>
            </Table>
          )}
        </Loaded>
      </Section>
    </div>
  )
}
