import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import actions from '../actions/actions.module.css'
import { listing } from '../app/api.ts'
import { useAgentId, useCan } from '../app/session.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { buttonClass } from '../ui/button.tsx'
import { plural } from '../ui/format.ts'
import { ListOrdered, Plus } from '../ui/icons.ts'
import { Badge, Page } from '../ui/page.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Empty } from '../ui/state.tsx'

/** Ordered steps that the agent follows in known situations. */
export function ProceduresPage() {
  const agentId = useAgentId()
  const can = useCan()
  const procedures = useInfiniteQuery(
    listing('/agents/{agentId}/procedures', { params: { agentId }, query: { limit: 50 } }),
  )
  const add = can('actions:write') && (
    <Link
      to="/agents/$agentId/procedures/$procedureId"
      params={{ agentId, procedureId: 'new' }}
      className={buttonClass('primary')}
    >
      <Plus size={16} aria-hidden />
      New procedure
    </Link>
  )
  return (
    <Page title="Procedures" about="Ordered steps for recurring situations." actions={add}>
      <PagedTable
        of={procedures}
        label="Procedures"
        head={['Name', 'Situation', 'Steps', 'State', 'Changed']}
        empty={
          <Empty icon={ListOrdered} title="No procedure yet" action={add}>
            Write down what a good colleague would do, step by step: ask for the number, look up the order,
            offer a refund.
          </Empty>
        }
      >
        {({ id, name, trigger, steps, enabled, updatedAt }) => (
          <tr key={id}>
            <td className={actions.name}>
              <Link to="/agents/$agentId/procedures/$procedureId" params={{ agentId, procedureId: id }}>
                {name}
              </Link>
            </td>
            <td className={actions.about}>{trigger}</td>
            <td className={sources.nowrap}>{plural(steps.length, 'step')}</td>
            <td>
              <Badge tone={enabled ? 'success' : 'neutral'}>{enabled ? 'On' : 'Off'}</Badge>
            </td>
            <td className={sources.nowrap}>
              <Ago at={updatedAt} />
            </td>
          </tr>
        )}
      </PagedTable>
    </Page>
  )
}
