import { follow } from '../app/api.ts'

/** A message about a help desk: an event, or that its stream is refused for now. */
export type DeskNews = { event: object } | { isLive: false }

/** How long to wait before reopening a stream that was refused. */
const PAUSE_MS = 15_000

/** Follows a help desk's event stream until `signal` aborts. */
export async function followDesk(
  agentId: string,
  signal: AbortSignal,
  tell: (news: DeskNews) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const events = follow('/agents/{agentId}/helpdesk/events', { params: { agentId }, signal })
      for await (const event of events) tell({ event: event as object })
    } catch {
      if (signal.aborted) return
      tell({ isLive: false })
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
