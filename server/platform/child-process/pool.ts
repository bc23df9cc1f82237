import { type Child, type Limits, startChild, type Watcher } from './child.ts'
import type { Task } from './child-main.ts'
import { ChildProcessFailure } from './child-process-failure.ts'
import type { Access } from './launch.ts'

type PoolSettings = Limits & {
  /** The most children at once, beside those for small orders. */
  places: number
  /** Further places that only small orders get, so that none of them waits for a large one. */
  placesForSmall?: number
  /** An idle child is killed after this time to free its memory. */
  idleMs: number
  /** The number of inputs after which a child is replaced. */
  maxTasks?: number
  access?: Access
}

type Pool = {
  /**
   * Runs the order in a child when it is the owner's turn. Rejects with ChildProcessFailure, or with what `onBegin` throws.
   */
  run(owner: string, order: Task, watcher: Watcher, options?: RunOptions): Promise<void>
  /** The ids of the child processes. */
  processes(): number[]
  /** Kills all children. Running and waiting orders fail with `aborted`. */
  close(): Promise<void>
}

type RunOptions = { signal?: AbortSignal | undefined; isSmall?: boolean }

const MAX_ORDERS = 200
const NO_ACCESS: Access = { folders: [], hasAddons: false }

type Turn = { start: () => void }

/** The orders of one size: those that wait and the number of those that run, by owner. */
type Lane = { waiting: Map<string, Turn[]>; running: Map<string, number> }
const newLane = (): Lane => ({ waiting: new Map(), running: new Map() })

/**
 * Creates a pool of child processes, each of which is reused for a limited number of inputs. Owners take turns. If
 * there is more than one place, no owner gets all of them, so that another owner's input soon finds a free one. Small
 * orders may take any place, large ones only those that are not reserved.
 */
export function createPool({
  places,
  placesForSmall = 0,
  idleMs,
  maxTasks = MAX_ORDERS,
  access = NO_ACCESS,
  ...bounds
}: PoolSettings): Pool {
  const closing = new AbortController()
  const [small, large] = [newLane(), newLane()]
  const idle: { child: Child; timer: NodeJS.Timeout }[] = []
  const children = new Set<Child>()

  const busyIn = ({ running }: Lane): number => [...running.values()].reduce((sum, count) => sum + count, 0)
  const isFree = (lane: Lane): boolean =>
    lane === small ? busyIn(small) + busyIn(large) < places + placesForSmall : busyIn(large) < places
  const shareOf = (lane: Lane): number => Math.max(1, places + (lane === small ? placesForSmall : 0) - 1)

  const startNext = (lane: Lane): void => {
    if (!isFree(lane)) return
    for (const [owner, turns] of lane.waiting) {
      if ((lane.running.get(owner) ?? 0) >= shareOf(lane)) continue
      // The owner goes to the end of the queue.
      lane.waiting.delete(owner)
      const turn = turns.shift()
      if (turns.length > 0) lane.waiting.set(owner, turns)
      turn?.start()
      return
    }
  }

  const turnOf = ({ waiting, running }: Lane, owner: string, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return Promise.reject(cancelled())
    return new Promise<void>((resolve, reject) => {
      const turns = waiting.get(owner) ?? []
      const onAbort = (): void => {
        turns.splice(turns.indexOf(turn), 1)
        if (turns.length === 0 && waiting.get(owner) === turns) waiting.delete(owner)
        reject(cancelled())
      }
      const turn: Turn = {
        start() {
          signal.removeEventListener('abort', onAbort)
          running.set(owner, (running.get(owner) ?? 0) + 1)
          resolve()
        },
      }
      turns.push(turn)
      waiting.set(owner, turns)
      signal.addEventListener('abort', onAbort)
      startAll()
    })
  }

  const startAll = (): void => {
    startNext(small)
    startNext(large)
  }

  const release = ({ running }: Lane, owner: string): void => {
    const left = (running.get(owner) ?? 1) - 1
    if (left > 0) running.set(owner, left)
    else running.delete(owner)
    startAll()
  }

  const take = (): Child => {
    const found = idle.pop()
    if (found) {
      clearTimeout(found.timer)
      if (found.child.isReusable()) return found.child
      void drop(found.child)
    }
    const child = startChild(bounds.memoryMb, maxTasks, access)
    children.add(child)
    return child
  }

  const drop = async (child: Child): Promise<void> => {
    await child.end()
    children.delete(child)
  }

  const giveBack = async (child: Child): Promise<void> => {
    if (!child.isReusable() || closing.signal.aborted) return drop(child)
    const place = { child, timer: setTimeout(leave, idleMs).unref() }
    idle.push(place)
    function leave(): void {
      idle.splice(idle.indexOf(place), 1)
      void drop(child)
    }
  }

  return {
    async run(owner, order, watcher, { signal, isSmall = false } = {}) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const lane = isSmall ? small : large
      await turnOf(lane, owner, either)
      const child = take()
      try {
        await child.run(order, bounds, watcher, either)
      } finally {
        // A killed child has freed its memory before the next order starts.
        await giveBack(child)
        release(lane, owner)
      }
    },
    processes: () => [...children].flatMap((child) => child.pid() ?? []),
    async close() {
      closing.abort()
      await Promise.all([...children].map(drop))
    },
  }
}

const cancelled = (): ChildProcessFailure => new ChildProcessFailure('aborted', 'It was cancelled.')
