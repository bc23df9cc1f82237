import { type Child, type Limits, startChild, type Watcher } from './child.ts'
import type { Task } from './child-main.ts'
import { ChildProcessFailure } from './child-process-failure.ts'
import type { Access } from './launch.ts'

type PoolSettings = Limits & {
  /** The most children at once. */
  places: number
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
  run(owner: string, order: Task, watcher: Watcher, signal?: AbortSignal): Promise<void>
  /** The ids of the child processes. */
  processes(): number[]
  /** Kills all children. Running and waiting orders fail with `aborted`. */
  close(): Promise<void>
}

const MAX_ORDERS = 200
const NO_ACCESS: Access = { folders: [], hasAddons: false }

type Turn = { start: () => void }

/**
 * Creates a pool of child processes, each of which is reused for a limited number of inputs. Owners take turns. If
 * there is more than one place, no owner gets all of them, so that another owner's input soon finds a free one.
 */
export function createPool({
  places,
  idleMs,
  maxTasks = MAX_ORDERS,
  access = NO_ACCESS,
  ...bounds
}: PoolSettings): Pool {
  const share = Math.max(1, places - 1)
  const closing = new AbortController()
  const waiting = new Map<string, Turn[]>()
  const running = new Map<string, number>()
  const idle: { child: Child; timer: NodeJS.Timeout }[] = []
  const children = new Set<Child>()
  let busy = 0

  const hasShare = (owner: string): boolean => (running.get(owner) ?? 0) < share

  const startNext = (): void => {
    if (busy >= places) return
    for (const [owner, turns] of waiting) {
      if (!hasShare(owner)) continue
      // The owner goes to the end of the queue.
      waiting.delete(owner)
      const turn = turns.shift()
      if (turns.length > 0) waiting.set(owner, turns)
      turn?.start()
      return
    }
  }

  const turnOf = (owner: string, signal: AbortSignal): Promise<void> => {
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
          busy += 1
          running.set(owner, (running.get(owner) ?? 0) + 1)
          resolve()
        },
      }
      turns.push(turn)
      waiting.set(owner, turns)
      signal.addEventListener('abort', onAbort)
      startNext()
    })
  }

  const release = (owner: string): void => {
    busy -= 1
    const left = (running.get(owner) ?? 1) - 1
    if (left > 0) running.set(owner, left)
    else running.delete(owner)
    startNext()
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
    async run(owner, order, watcher, signal) {
      const either = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      await turnOf(owner, either)
      const child = take()
      try {
        await child.run(order, bounds, watcher, either)
      } finally {
        // A killed child has freed its memory before the next order starts.
        await giveBack(child)
        release(owner)
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
