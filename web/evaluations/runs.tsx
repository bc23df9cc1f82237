import { useInfiniteQuery } from '@tanstack/react-query'
import { listing } from '../app/api.ts'
import sources from '../sources/sources.module.css'
import { Ago } from '../ui/ago.tsx'
import { Button } from '../ui/button.tsx'
import { formatNumber, formatShare, formatTime } from '../ui/format.ts'
import { ChartNoAxesColumn } from '../ui/icons.ts'
import { Table } from '../ui/page.tsx'
import { Empty, Loaded } from '../ui/state.tsx'
import classes from './evaluations.module.css'
import { FIGURES } from './results.ts'

/** Lists the stored runs, newest first. */
export function Runs({ agentId, onOpen }: { agentId: string; onOpen: (id: string) => void }) {
  const runs = useInfiniteQuery(
    listing('/agents/{agentId}/evaluation-runs', { params: { agentId }, query: { limit: 50 } }),
  )
  return (
    <Loaded of={runs}>
      {({ pages }) => {
        const all = pages.flatMap(({ data }) => data)
        if (all.length === 0) {
          return (
            <Empty icon={ChartNoAxesColumn} title="It was never run">
              Run it once before you change something, and once after: the difference shows what the change
              did.
            </Empty>
          )
        }
        return (
          <Table
            stacked
            label="Runs"
            head={['Run', 'Set', 'Questions', ...FIGURES.map(([, label]) => label), 'When']}
          >
            {all.map((run) => (
              <tr key={run.id}>
                <td className={classes.question}>
                  <button type="button" className={sources.open} onClick={() => onOpen(run.id)}>
                    {run.note || formatTime(run.createdAt)}
                  </button>
                </td>
                <td className={classes.faint}>{run.setName ?? 'All'}</td>
                <td className={classes.number}>{formatNumber(run.questions)}</td>
                {FIGURES.map(([name]) => (
                  <td key={name} className={classes.number}>
                    {formatShare(run[name])}
                  </td>
                ))}
                <td className={sources.nowrap}>
                  <Ago at={run.createdAt} />
                </td>
              </tr>
            ))}
          </Table>
        )
      }}
    </Loaded>
  )
}

export const BackButton = ({ onBack }: { onBack: () => void }) => (
  <Button kind="quiet" small onClick={onBack}>
    ← All runs
  </Button>
)
