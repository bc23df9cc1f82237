import { useQuery } from '@tanstack/react-query'
import { type OutputOf, reading } from '../app/api.ts'
import { useMe } from '../app/session.ts'
import { formatDay, formatDollars, formatNumber, plural } from '../ui/format.ts'
import { Bar, Card, Section, Table } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'
import { UsageChart } from './usage-chart.tsx'
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
      {usage.data && usage.data.models.length > 0 && <Models usage={usage.data} />}
      {usage.data && usage.data.embeddings.length > 0 && <Embeddings rows={usage.data.embeddings} />}
    </div>
  )
}

const PURPOSES: Record<ModelRow['purpose'], string> = {
  answer: 'Answers',
  title: 'Titles',
  summary: 'Summaries',
  understanding: 'Understanding',
  spam: 'Spam',
  insights: 'Insights',
  playground: 'Playground and tests',
  tests: 'Judges and players of tests',
}

type ModelRow = OutputOf<'GET', '/usage'>['models'][number]

/** What language models read and wrote. */
function Models({ usage }: { usage: OutputOf<'GET', '/usage'> }) {
  const { models: rows } = usage
  const sum = (of: (row: ModelRow) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const unpriced = sum(({ unpricedCalls }) => unpricedCalls)
  return (
    <Section
      title="Language models"
      about="What they read and wrote in these days, for answers and beside them, with the money by the prices of the catalogue."
    >
      <UsageChart usage={usage} />
      <Table
        label="Language models"
        head={[
          'Day',
          'Agent',
          'Model',
          'For',
          'Calls',
          'Read',
          'From the cache',
          'Written',
          'Reasoning',
          'Price',
        ]}
      >
        {rows.toReversed().map(({ day, agentId, agentName, model, purpose, ...row }) => (
          <tr key={`${day} ${agentId} ${model} ${purpose}`}>
            <td className={classes.nowrap}>{formatDay(day)}</td>
            <td>{agentName ?? 'An agent that was deleted'}</td>
            <td>{model}</td>
            <td>{PURPOSES[purpose]}</td>
            <td>{formatNumber(row.calls)}</td>
            <td>{formatNumber(row.inputTokens)}</td>
            <td>{formatNumber(row.cachedTokens)}</td>
            <td>{formatNumber(row.outputTokens)}</td>
            <td>{formatNumber(row.reasoningTokens)}</td>
            <td>{formatDollars(row.dollars)}</td>
          </tr>
        ))}
        <tr className={classes.total}>
          <td>Total</td>
          <td />
          <td />
          <td />
          <td>{formatNumber(sum(({ calls }) => calls))}</td>
          <td>{formatNumber(sum(({ inputTokens }) => inputTokens))}</td>
          <td>{formatNumber(sum(({ cachedTokens }) => cachedTokens))}</td>
          <td>{formatNumber(sum(({ outputTokens }) => outputTokens))}</td>
          <td>{formatNumber(sum(({ reasoningTokens }) => reasoningTokens))}</td>
          <td>{formatDollars(sum(({ dollars }) => dollars ?? 0))}</td>
        </tr>
      </Table>
      {unpriced > 0 && (
        <p className={classes.faint}>
          The price does not include {plural(unpriced, 'call')} whose price or tokens are not known.
        </p>
      )}
    </Section>
  )
}

type Row = OutputOf<'GET', '/usage'>['embeddings'][number]

/** What was sent to the embedding model, which costs no credits but may cost money. */
function Embeddings({ rows }: { rows: readonly Row[] }) {
  const tokens = (given: Pick<Row, 'tokens' | 'estimated'>): string =>
    `${given.estimated > 0 ? 'about ' : ''}${formatNumber(given.tokens)}`
  const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0)
  const isPriced = rows.every(({ dollars }) => dollars !== null)
  const total = { tokens: sum((row) => row.tokens), estimated: sum((row) => row.estimated) }
  return (
    <Section
      title="Embeddings"
      about="What was sent to the embedding model in these days. It costs no credits. Tokens with “about” are estimated, where the server does not count them."
    >
      <Table label="Embeddings" head={['Day', 'Agent', 'Model', 'Texts', 'Tokens', 'Price']}>
        {rows.toReversed().map(({ day, agentId, agentName, model, kind, texts, ...row }) => (
          <tr key={`${day} ${agentId} ${model} ${kind}`}>
            <td className={classes.nowrap}>{formatDay(day)}</td>
            <td>{agentName ?? 'An agent that was deleted'}</td>
            <td>{model}</td>
            <td>
              {kind === 'passages'
                ? plural(texts, 'text of sources', 'texts of sources')
                : plural(
                    texts,
                    kind === 'trials' ? 'question of the team' : 'question',
                    kind === 'trials' ? 'questions of the team' : undefined,
                  )}
            </td>
            <td>{tokens(row)}</td>
            <td>{formatDollars(row.dollars)}</td>
          </tr>
        ))}
        <tr className={classes.total}>
          <td>Total</td>
          <td />
          <td />
          <td>{formatNumber(sum(({ texts }) => texts))}</td>
          <td>{tokens(total)}</td>
          <td>{formatDollars(isPriced ? sum(({ dollars }) => dollars ?? 0) : null)}</td>
        </tr>
      </Table>
    </Section>
  )
}
