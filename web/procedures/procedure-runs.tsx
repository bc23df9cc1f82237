import { useInfiniteQuery } from '@tanstack/react-query'
import { ConversationLink } from '../actions/action-runs.tsx'
import actions from '../actions/actions.module.css'
import { RUN_TONES } from '../actions/words.ts'
import { listing } from '../app/api.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Badge, Section } from '../ui/page.tsx'
import { PagedTable } from '../ui/paged-table.tsx'

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
      <PagedTable
        of={runs}
        lines={2}
        label="Last runs"
        head={['Began', 'Result', 'Ended', 'Conversation']}
        empty={<p className={actions.faint}>Nobody has needed it yet.</p>}
      >
        {({ id, startedAt, endedAt, status, source, conversationId }) => (
          <tr key={id}>
            <td className={sources.nowrap}>
              <Ago at={startedAt} />
            </td>
            <td>
              <Badge tone={RUN_TONES[status]}>{status}</Badge>
            </td>
            <td className={sources.nowrap}>{endedAt ? <Ago at={endedAt} /> : '–'}</td>
            <td className={sources.nowrap}>
              <ConversationLink agentId={agentId} source={source} conversationId={conversationId} />
            </td>
          </tr>
        )}
      </PagedTable>
    </Section>
  )
}
