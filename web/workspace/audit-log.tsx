import { useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { listing, type OutputOf, reading } from '../app/api.ts'
import { useAgents, useCan } from '../app/session.ts'
import { formatTime } from '../ui/format.ts'
import { ScrollText } from '../ui/icons.ts'
import { Section, Table } from '../ui/page.tsx'
import { ShowMore } from '../ui/show-more.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { wordsOfAction, wordsOfActor, wordsOfDetail, wordsOfTarget } from './audit-words.ts'
import classes from './workspace.module.css'

type Entry = OutputOf<'GET', '/audit-log'>['data'][number]

/** Returns sources of the agents whose sources were changed. */
function useSourcesOf(entries: Entry[]): { id: string; name: string | null }[] {
  const can = useCan()
  const changed = entries.filter(
    ({ action, target }) => action.startsWith('source.') && target?.includes('/'),
  )
  const agentIds = [...new Set(changed.map(({ target }) => target?.split('/')[0] ?? ''))]
  const known = new Set(useAgents().data?.data.map(({ id }) => id))
  return useQueries({
    queries: agentIds
      .filter((id) => known.has(id))
      .map((agentId) => ({
        ...reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
        enabled: can('sources:read'),
      })),
  }).flatMap(({ data }) => data?.data ?? [])
}

/** Lists who changed what, as text. */
export function AuditLog() {
  const can = useCan()
  const agents = useAgents().data?.data ?? []
  const members = useQuery({ ...reading('/members'), enabled: can('members:read') }).data ?? []
  const keys = useQuery({ ...reading('/keys'), enabled: can('keys:read') }).data ?? []
  const invitations = useQuery({ ...reading('/invitations'), enabled: can('members:read') }).data ?? []
  const log = useInfiniteQuery(listing('/audit-log', { query: { limit: 50 } }))
  const entries = log.data?.pages.flatMap(({ data }) => data) ?? []
  const named = [...agents, ...members, ...keys, ...useSourcesOf(entries)]
  const names = new Map([
    ...named.map(({ id, name }) => [id, name ?? ''] as const),
    ...invitations.map(({ id, email }) => [id, email] as const),
  ])
  return (
    <Section title="Audit log" about="Who changed what, newest first.">
      <Loaded of={log}>
        {() => {
          if (entries.length === 0) return <Empty icon={ScrollText} title="Nothing was changed yet" />
          return (
            <>
              <Table stacked label="Audit log" head={['When', 'Who', 'What', 'On what']}>
                {entries.map((entry) => {
                  const { id, at, actor, actorName, action, target, detail } = entry
                  return (
                    <tr key={id}>
                      <td className={classes.nowrap}>{formatTime(at)}</td>
                      <td>{actorName ?? wordsOfActor(actor)}</td>
                      <td title={action}>{wordsOfAction(action)}</td>
                      <td className={classes.target} title={target ?? undefined}>
                        {wordsOfTarget(entry, names)}
                        {detail && <p className={classes.faint}>{wordsOfDetail(detail, names, action)}</p>}
                      </td>
                    </tr>
                  )
                })}
              </Table>
              <ShowMore of={log} className={classes.more} />
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
