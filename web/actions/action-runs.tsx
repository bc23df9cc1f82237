import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listing } from '../app/api.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Badge, Section } from '../ui/page.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import classes from './actions.module.css'
import { RUN_TONES } from './words.ts'

/** Lists the last runs of an action in conversations, with input and output. */
export function ActionRuns({ agentId, actionId }: { agentId: string; actionId: string }) {
  const runs = useInfiniteQuery(
    listing('/agents/{agentId}/actions/{actionId}/runs', {
      params: { agentId, actionId },
      query: { limit: 10 },
    }),
  )
  return (
    <Section title="Last runs" about="Runs in conversations, under the current name.">
      <PagedTable
        of={runs}
        lines={2}
        label="Last runs"
        head={['When', 'Result', 'Input and output', 'Conversation']}
        empty={<p className={classes.faint}>It has not run yet.</p>}
      >
        {({ id, createdAt, status, input, output, source, conversationId }) => (
          <tr key={id}>
            <td className={sources.nowrap}>
              <Ago at={createdAt} />
            </td>
            <td>
              <Badge tone={RUN_TONES[status]}>{status}</Badge>
            </td>
            <td className={classes.about}>
              <details>
                <summary>{JSON.stringify(input)}</summary>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
                <section className={classes.output} aria-label="Output" tabIndex={0}>
                  {JSON.stringify(output, null, 2) ?? 'nothing yet'}
                </section>
              </details>
            </td>
            <td className={sources.nowrap}>
              <ConversationLink agentId={agentId} source={source} conversationId={conversationId} />
            </td>
          </tr>
        )}
      </PagedTable>
    </Section>
  )
}

type OfRun = { agentId: string; source: string; conversationId: string }

export const ConversationLink = ({ agentId, source, conversationId }: OfRun) => (
  <Link to="/agents/$agentId/conversations" params={{ agentId }} search={{ open: conversationId, source }}>
    {source}
  </Link>
)
