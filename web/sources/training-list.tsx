import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import agents from '../agents/agents.module.css'
import { isBusy, statusOfSource } from '../agents/status.ts'
import { reading, type Source } from '../app/api.ts'
import { formatBytes, plural } from '../ui/format.ts'
import { Badge } from '../ui/page.tsx'
import { Loaded } from '../ui/state.tsx'

const LOOK_MS = 1_000

/** Returns the query for the sources of an agent, which polls while any of them is being processed. */
const useSources = (agentId: string) =>
  useQuery({
    ...reading('/agents/{agentId}/sources', { params: { agentId }, query: { limit: 100 } }),
    refetchInterval: ({ state }) => (state.data?.data.some(isBusy) ? LOOK_MS : false),
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

type TrainingListProps = { agentId: string; problems: string[]; onReady: () => void }

export function TrainingList({ agentId, problems, onReady }: TrainingListProps) {
  const sources = useSources(agentId)
  const isReady = sources.data?.data.some(({ status }) => status === 'trained') ?? false
  useEffect(() => {
    if (isReady) onReady()
  }, [isReady, onReady])
  return (
    <Loaded of={sources}>
      {({ data }) => (
        <ul className={agents.rows} aria-live="polite" aria-label="Training">
          {data.map((source) => {
            const { tone, label } = statusOfSource(source.status)
            return (
              <li key={source.id}>
                <span>
                  {source.name} <small className={agents.faint}>{source.error ?? progressOf(source)}</small>
                </span>
                <Badge tone={tone}>
                  {source.status === 'trained' ? `Live, ${formatBytes(source.size)}` : label}
                </Badge>
              </li>
            )
          })}
          {problems.map((problem) => (
            <li key={problem}>
              <span>{problem}</span>
              <Badge tone="danger">Failed</Badge>
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  )
}
