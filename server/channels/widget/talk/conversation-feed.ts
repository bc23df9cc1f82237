import type { Context } from '../../../context.ts'
import { readStates } from './conversation-state.ts'

/** Notifications may be lost, and not every change causes one. */
const LOOK_EVERY_MS = 2_000
/** The minimum time between two queries caused by notifications. */
const MIN_MS = 200
const AT_ONCE = 1_000

type Follower = {
  agentId: string
  conversationId: string
  /** The version last sent to the reader; null: none yet. */
  version: string | null
  isReady(): boolean
  tell(version: string): void
  end(): void
}

/** Tells readers of conversations about changes. All readers of a process share its queries. */
export type ConversationFeed = { join(follower: Follower): { look(): void; leave(): void } }

type Needs = Pick<Context, 'db' | 'notifier' | 'log'>

export function createConversationFeed({ db, notifier, log }: Needs): ConversationFeed {
  const followers = new Set<Follower>()
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  let stopListening = (): void => {}
  const wanted = new Set<Follower>()

  const lookAt = async (some: Follower[]): Promise<void> => {
    const byId = Map.groupBy(
      some.filter((follower) => followers.has(follower) && follower.isReady()),
      ({ conversationId }) => conversationId,
    )
    const ids = [...byId.keys()]
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const batch = ids.slice(from, from + AT_ONCE)
      const found = new Map((await readStates(db, batch)).map((state) => [state.id, state.version]))
      for (const id of batch) {
        const version = found.get(id)
        for (const follower of byId.get(id) ?? []) {
          if (!followers.has(follower)) continue
          if (version === undefined) follower.end()
          else if (version !== follower.version && follower.isReady()) {
            follower.version = version
            follower.tell(version)
          }
        }
      }
    }
  }
  const look = (some: () => Follower[]): void => {
    // The unavailability of the database is reported elsewhere; the next query follows in 2 s.
    looking = looking
      .then(() => lookAt(some()))
      .catch((error) => log.info({ err: error }, 'the states of followed conversations could not be read'))
  }
  const lookSoon = (some: Iterable<Follower>): void => {
    for (const follower of some) wanted.add(follower)
    if (wanted.size === 0) return
    soon ??= setTimeout(() => {
      soon = undefined
      look(() => {
        const asked = [...wanted]
        wanted.clear()
        return asked
      })
    }, MIN_MS)
  }
  const start = (): void => {
    timer = setInterval(() => look(() => [...followers]), LOOK_EVERY_MS)
    stopListening = notifier.on('helpdesk', (agentId) =>
      lookSoon([...followers].filter((follower) => follower.agentId === agentId)),
    )
  }
  const stop = (): void => {
    clearInterval(timer)
    clearTimeout(soon)
    soon = undefined
    stopListening()
  }

  return {
    join(follower) {
      followers.add(follower)
      if (followers.size === 1) start()
      const once = [follower]
      return {
        look: () => lookSoon(once),
        leave() {
          followers.delete(follower)
          wanted.delete(follower)
          if (followers.size === 0) stop()
        },
      }
    },
  }
}
