import { useQuery } from '@tanstack/react-query'
import agents from '../agents/agents.module.css'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { reading, type Source } from '../app/api.ts'
import { formatBytes, plural } from '../ui/format.ts'
import { Badge } from '../ui/page.tsx'

const POLL_MS = 1_000

/** Returns the query for the sources of an agent, which polls while any of them is being processed. */
export const useSources = (agentId: string) =>
  useQuery({
    ...reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
    refetchInterval: ({ state }) => (state.data?.data.some(isBusy) ? POLL_MS : false),
  })

type Children = { included: number; excluded: number; failed: number; pending: number }

/** Returns how many pages of a website have been read so far. */
export function progressOf({ metadata }: Source): string | null {
  const { children } = (metadata ?? {}) as { children?: Children }
  if (!children) return null
  const read = children.included + children.failed
  return children.pending > 0
    ? `${read} of ${read + children.pending} pages`
    : plural(children.included, 'page')
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
