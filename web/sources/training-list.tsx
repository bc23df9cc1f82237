import { useQuery } from '@tanstack/react-query'
import agents from '../agents/agents.module.css'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { reading, type Source } from '../app/api.ts'
import { formatBytes, formatNumber, plural } from '../ui/format.ts'
import { Badge } from '../ui/page.tsx'

const POLL_MS = 1_000

/** Returns the query for the sources of an agent, which polls while any of them is being processed. */
export const useSources = (agentId: string) =>
  useQuery({
    ...reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
    refetchInterval: ({ state }) => (state.data?.data.some(isBusy) ? POLL_MS : false),
  })

type Crawl = { children?: { included: number }; waiting?: number }

/** Returns how many pages of a website are live, and how many are still to be read. */
export function progressOf({ metadata }: Source): string | null {
  const { children, waiting } = (metadata ?? {}) as Crawl
  if (!children) return null
  const live = plural(children.included, 'page')
  return waiting ? `${live} live, ${formatNumber(waiting)} to read` : live
}

/** Returns whether it is used in answers: the first pages of a website are while the others are still read. */
export function isAnswering({ status, metadata }: Source): boolean {
  const { children } = (metadata ?? {}) as Crawl
  return status === 'trained' || status === 'updated' || (status === 'untrained' && !!children?.included)
}

export const TrainingList = ({ sources }: { sources: Source[] }) => (
  <ul className={agents.rows} aria-live="polite" aria-label="Training">
    {sources.map((source) => {
      const { tone, label } = statusOfSource(source.status)
      return (
        <li key={source.id}>
          <span>
            {source.name} <small className={agents.faint}>{progressOf(source)}</small>
          </span>
          <Badge tone={tone}>
            {source.status === 'trained' ? `Live, ${formatBytes(source.size)}` : label}
          </Badge>
        </li>
      )
    })}
  </ul>
)
