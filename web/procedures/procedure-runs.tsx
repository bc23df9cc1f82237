import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import actions from '../actions/actions.module.css'
import { RUN_TONES } from '../actions/words.ts'
import { listing } from '../app/api.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Badge, Section, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Loaded } from '../ui/state.tsx'

/** Lists the last conversations in which a procedure was followed. */
export function ProcedureRuns({ agentId, procedureId }: { agentId: string; procedureId: string }) {
  const runs = useInfiniteQuery(
    listing('/agents/{agentId}/procedures/{procedureId}/runs', {
      params: { agentId, procedureId },
      query: { limit: 10 },
    }),
  )
  return (
    <Section title="Last runs">
      <Loaded of={runs} lines={2}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) return <p className={actions.faint}>Nobody has needed it yet.</p>
          return (
            <>
              <Table stacked label="Last runs" head={['Began', 'Result', 'Ended', 'Conversation']}>
                {all.map(({ id, startedAt, endedAt, status, source, conversationId }) => (
                  <tr key={id}>
                    <td className={sources.nowrap}>
                      <Ago at={startedAt} />
                    </td>
                    <td>
                      <Badge tone={RUN_TONES[status]}>{status}</Badge>
                    </td>
                    <td className={sources.nowrap}>{endedAt ? <Ago at={endedAt} /> : '–'}</td>
                    <td className={sources.nowrap}>
                      <Link
                        to="/agents/$agentId/conversations"
                        params={{ agentId }}
                        search={{ open: conversationId, source }}
                      >
                        {source}
                      </Link>
                    </td>
                  </tr>
                ))}
              </Table>
              <ShowMore of={runs} className={sources.more} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
