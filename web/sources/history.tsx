import { useQuery } from '@tanstack/react-query'
import { reading } from '../app/api.ts'
import { formatBytes, formatTime } from '../ui/format.ts'
import { History as Clock } from '../ui/icons.ts'
import { Badge, Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './sources.module.css'

const OUTCOMES = {
  live: ['success', 'Went live'],
  unchanged: ['neutral', 'Unchanged'],
  failed: ['danger', 'Failed'],
  removed: ['warning', 'Gone at its origin'],
} as const

/** Lists the last trainings of a source. */
export function History({ agentId, sourceId }: { agentId: string; sourceId: string }) {
  const trainings = useQuery(
    reading('/agents/{agentId}/sources/{sourceId}/trainings', { params: { agentId, sourceId } }),
  )
  return (
    <Loaded of={trainings}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty icon={Clock} title="It was not trained yet">
            Each training leaves an entry here, with the reason when it failed.
          </Empty>
        ) : (
          <Table stacked label="History of training" head={['When', 'Outcome', 'Text', 'Why']}>
            {data.map(({ at, outcome, bytes, reason }) => {
              const [tone, words] = OUTCOMES[outcome]
              return (
                <tr key={at}>
                  <td className={classes.nowrap}>{formatTime(at)}</td>
                  <td className={classes.nowrap}>
                    <Badge tone={tone}>{words}</Badge>
                  </td>
                  <td className={classes.nowrap}>{bytes === null ? '–' : formatBytes(bytes)}</td>
                  <td className={classes.name}>{reason ?? '–'}</td>
                </tr>
              )
            })}
          </Table>
        )
      }
    </Loaded>
  )
}
