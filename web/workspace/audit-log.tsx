import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { listing, reading } from '../app/api.ts'
import { useAgents, useCan } from '../app/session.ts'
import { Button } from '../ui/button.tsx'
import { formatTime } from '../ui/format.ts'
import { Section, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import { wordsOfAction, wordsOfActor, wordsOfDetail, wordsOfTarget } from './audit-words.ts'
import classes from './workspace.module.css'

/** Lists who changed what, as text. */
export function AuditLog() {
  const can = useCan()
  const agents = useAgents().data?.data ?? []
  const members = useQuery({ ...reading('/members'), enabled: can('members:read') }).data ?? []
  const keys = useQuery({ ...reading('/keys'), enabled: can('keys:read') }).data ?? []
  const names = new Map([...agents, ...members, ...keys].map(({ id, name }) => [id, name]))
  const log = useInfiniteQuery(listing('/audit-log', { query: { limit: 50 } }))
  return (
    <Section title="Audit log" about="Who changed what, newest first.">
      <Loaded of={log}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) return <Empty icon={ScrollText} title="Nothing was changed yet" />
          return (
            <>
              <Table stacked label="Audit log" head={['When', 'Who', 'What', 'On what']}>
                {all.map((entry) => {
                  const { id, at, actor, actorName, action, target, detail } = entry
                  return (
                    <tr key={id}>
                      <td className={classes.nowrap}>{formatTime(at)}</td>
                      <td>{actorName ?? wordsOfActor(actor)}</td>
                      <td title={action}>{wordsOfAction(action)}</td>
                      <td className={classes.target} title={target ?? undefined}>
                        {wordsOfTarget(entry, names)}
                        {detail && <p className={classes.faint}>{wordsOfDetail(detail, action)}</p>}
                      </td>
                    </tr>
                  )
                })}
              </Table>
              {log.hasNextPage && (
                <div className={classes.more}>
                  <Button onClick={() => log.fetchNextPage()} pending={log.isFetchingNextPage}>
                    Show more
                  </Button>
                </div>
              )}
            </>
          )
        }}
      </Loaded>
    </Section>
  )
}
