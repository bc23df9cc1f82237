import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { listing } from '../app/api.ts'
import { Button } from '../ui/button.tsx'
import { formatTime } from '../ui/format.ts'
import { Section, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './workspace.module.css'

/** Formats the details of an audit log entry as plain text instead of JSON. */
const wordsOf = (detail: object): string =>
  Object.entries(detail)
    .map(([name, value]) => {
      const words = Array.isArray(value) ? value.join(', ') : value
      return `${name}: ${typeof words === 'object' ? JSON.stringify(words) : String(words)}`
    })
    .join('; ')

export function AuditLog() {
  const log = useInfiniteQuery(listing('/audit-log', { query: { limit: 50 } }))
  return (
    <Section title="Audit log" about="Who changed what, newest first.">
      <Loaded of={log}>
        {({ pages }) => {
          const all = pages.flatMap(({ data }) => data)
          if (all.length === 0) return <Empty icon={ScrollText} title="Nothing was changed yet" />
          return (
            <>
              <Table label="Audit log" head={['When', 'Who', 'What', 'On what']}>
                {all.map(({ id, at, actor, actorName, action, target, detail }) => (
                  <tr key={id}>
                    <td className={classes.nowrap}>{formatTime(at)}</td>
                    <td>{actorName ?? actor}</td>
                    <td>{action}</td>
                    <td className={classes.target}>
                      {target ?? '–'}
                      {detail && <p className={classes.faint}>{wordsOf(detail)}</p>}
                    </td>
                  </tr>
                ))}
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
