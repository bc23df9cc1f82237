import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listing } from '../app/api.ts'
import { useAgentId, useCan } from '../app/session.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { buttonClass } from '../ui/button.tsx'
import { Plus, Zap } from '../ui/icons.ts'
import { Badge, Page } from '../ui/page.tsx'
import { PagedTable } from '../ui/paged-table.tsx'
import { Empty } from '../ui/state.tsx'
import classes from './actions.module.css'
import { typeName } from './words.ts'

/** What the agent can do besides answering. */
export function ActionsPage() {
  const agentId = useAgentId()
  const can = useCan()
  const actions = useInfiniteQuery(
    listing('/agents/{agentId}/actions', { params: { agentId }, query: { limit: 50 } }),
  )
  const add = can('actions:write') && (
    <Link
      to="/agents/$agentId/actions/$actionId"
      params={{ agentId, actionId: 'new' }}
      className={buttonClass('primary')}
    >
      <Plus size={16} aria-hidden />
      New action
    </Link>
  )
  return (
    <Page
      title="Actions"
      about="What the agent can do besides answering, such as looking up an order or handing over to a person."
      actions={add}
    >
      <PagedTable
        of={actions}
        label="Actions"
        head={['Name', 'Kind', 'When it is used', 'State', 'Changed']}
        empty={
          <Empty icon={Zap} title="It can only answer" action={add}>
            An action lets it look up an order, leave a request, or hand over to your team.
          </Empty>
        }
      >
        {({ id, name, type, description, enabled, channels, updatedAt }) => (
          <tr key={id}>
            <td className={classes.name}>
              <Link to="/agents/$agentId/actions/$actionId" params={{ agentId, actionId: id }}>
                {name}
              </Link>
            </td>
            <td className={sources.nowrap}>{typeName(type)}</td>
            <td className={classes.about}>{description}</td>
            <td className={sources.nowrap}>
              <Badge tone={enabled ? 'success' : 'neutral'}>{enabled ? 'On' : 'Off'}</Badge>{' '}
              {channels && <span className={sources.faint}>on some channels</span>}
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
