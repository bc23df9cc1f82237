import type { Context } from '../../context.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { eventsAfter } from './event-queries.ts'

/** Notifications may be lost, so the rows are read after this time even without one. */
const LOOK_EVERY_MS = 2_000
/** The limit for one account in this process. */
const MAX_WATCHERS = 50

/** One open stream. */
export type Watcher = {
  /** The number of the last event that it has received. */
  position: number
  /** Whether it accepts data now; when it does so again, it calls look(). */
  isReady(): boolean
  write(text: string): void
  end(): void
}

type Follower = { look(): void; leave(): void }

/** Delivers new events of help desks to their watchers. The watchers of one agent share its queries. */
export type EventFeeds = {
  /** Throws 429 RATE_LIMIT_TOO_MANY_REQUESTS when the account has reached its limit of watchers here. */
  join(ref: AgentRef, watcher: Watcher): Follower
}

type Deps = Pick<Context, 'db' | 'notifier' | 'log'>
type Feed = { accountId: AccountId; watchers: Set<Watcher>; look(): void; stop(): void }

export function createEventFeeds(needs: Deps): EventFeeds {
  const feeds = new Map<string, Feed>()
  const admit = (accountId: AccountId): void => {
    const own = [...feeds.values()].filter((feed) => feed.accountId === accountId)
    if (own.reduce((sum, { watchers }) => sum + watchers.size, 0) < MAX_WATCHERS) return
    throw new ApiError('RATE_LIMIT_TOO_MANY_REQUESTS', {
      message: `The account already has ${MAX_WATCHERS} open event streams. Close one of them first.`,
      headers: { 'retry-after': '10' },
    })
  }
  return {
    join(owner, watcher) {
      admit(owner.accountId)
      const feed = feeds.get(owner.agentId) ?? startFeed(needs, owner)
      feeds.set(owner.agentId, feed)
      feed.watchers.add(watcher)
      feed.look()
      return {
        look: feed.look,
        leave() {
          if (!feed.watchers.delete(watcher) || feed.watchers.size > 0) return
          feed.stop()
          feeds.delete(owner.agentId)
        },
      }
    },
  }
}

function startFeed({ db, notifier, log }: Deps, { accountId, agentId }: AgentRef): Feed {
  const watchers = new Set<Watcher>()
  let looking = false
  let again = false

  /** Makes one query for all watchers at the same position, as most of them are. */
  const lookFrom = async (position: number, group: Watcher[]): Promise<void> => {
    const feed = await eventsAfter(db, { accountId, agentId }, position)
    for (const watcher of group) {
      if (feed === 'gone') watcher.end()
      else if (feed.text !== '' && watchers.has(watcher) && watcher.isReady()) {
        watcher.position = feed.position
        watcher.write(feed.text)
        again ||= feed.hasMore
      }
    }
  }
  const look = async (): Promise<void> => {
    again = looking
    if (looking) return
    looking = true
    try {
      const ready = [...watchers].filter((watcher) => watcher.isReady())
      const groups = Map.groupBy(ready, ({ position }) => position)
      for (const [position, group] of groups) await lookFrom(position, group)
    } catch (error) {
      log.warn({ err: error }, 'the events of help desks could not be read')
    } finally {
      looking = false
      if (again) setImmediate(look)
    }
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  const stopListening = notifier.on('helpdesk', (id) => {
    if (id === agentId) void look()
  })
  return {
    accountId,
    watchers,
    look: () => void look(),
    stop() {
      stopListening()
      clearInterval(timer)
    },
  }
}
