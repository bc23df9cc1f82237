import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { isUnavailable } from '../db/connections/database-errors.ts'
import { withLowPriority, withTenant } from '../db/connections/lanes.ts'
import type { Db } from '../db/database.ts'
import type { ServiceProcess } from '../db/upkeep/processes.ts'
import { recordOf } from '../unknown-values.ts'
import { claimJob, deleteJob, type Job, putBackJob } from './job-rows.ts'
import { ServiceAway, type Task } from './jobs.ts'

/** Jobs of a task that are due within the same slot of this length are fetched by one timer. */
const SLOT_MS = 100
/** A job that runs for longer is aborted, and runs again. */
const MAX_RUN_MS = 3_600_000
/** The most times that a process may die, or be stopped, while it works on a job. */
const MAX_INTERRUPTIONS = 50
/**
 * The most attempts that do not count because the database was unavailable. Their growing delays add up to more than an hour;
 * whatever still fails has another reason, such as a statement that always takes too long.
 */
const MAX_OUTAGES = 20
const MAX_OUTAGE_WAIT_SECONDS = 300
/** How often it is tried to store how an attempt has ended. */
const STORE_AGAIN_MS = 1_000

/** Works on the jobs of one task in this process. */
export type Worker = {
  readonly name: string
  /** The ids of the jobs that it runs. */
  running(): string[]
  hasRoom(): boolean
  /** Claims the jobs that are due, or will be in this many milliseconds. */
  wake(afterMs?: number): void
  abort(reason: Error): void
  /** Resolves when it neither runs nor claims a job. */
  idle(): Promise<unknown>
  /** From now on, how a job ends is stored at the first try or not at all. */
  close(): void
}

type Deps = {
  db: Db
  process: Pick<ServiceProcess, 'id' | 'epoch'>
  mustWait(): boolean
  /** Reports a job that has failed for good. */
  onError(error: unknown): void
  /** Reports a failure of the queue itself. */
  onQueueError(error: unknown): void
  onDone(): void
}

/** The result of an attempt: null when the job has ended, or the job and the seconds until its next attempt. */
type Outcome = { job: Job; afterSeconds: number } | null

export function createWorker(deps: Deps, task: Task<object>): Worker {
  const { db, process, mustWait, onError, onQueueError, onDone } = deps
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  const timers = new Map<number, NodeJS.Timeout>()
  let claiming: Promise<void> | null = null
  let wasWoken = false
  let closed = false
  // Jobs do not inherit the tenant or the priority of whoever enqueues or finishes one.
  const inOwnContext = AsyncLocalStorage.snapshot()
  const hasRoom = (): boolean => running.size < task.concurrency

  const claimDue = async (): Promise<void> => {
    while (hasRoom() && !mustWait()) {
      const { id, epoch } = process
      const job = await claimJob(db, task, { id, epoch, running: [...running.keys()] })
      if (job === null) return
      // Meanwhile this process was declared dead, and the job is free again.
      if (epoch !== process.epoch) continue
      if (mustWait()) return putBackJob(db, job, 0)
      start(job)
    }
  }
  const claim = async (): Promise<void> => {
    while (wasWoken) {
      wasWoken = false
      await claimDue().catch(onQueueError)
    }
    claiming = null
  }
  const wakeNow = (): void => {
    wasWoken = true
    claiming ??= inOwnContext(claim)
  }
  const wake = (afterMs = 0): void => {
    if (afterMs <= 0) wakeNow()
    const slot = Math.ceil((performance.now() + afterMs) / SLOT_MS)
    if (afterMs <= 0 || timers.has(slot)) return
    const timer = setTimeout(() => {
      timers.delete(slot)
      wakeNow()
    }, afterMs + SLOT_MS)
    timers.set(slot, timer.unref())
  }
  /** The claim is this process's until its end is stored, so that is tried until it succeeds. */
  const store = async (job: Job, outcome: Outcome): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        if (outcome === null) await deleteJob(db, job)
        else await putBackJob(db, outcome.job, outcome.afterSeconds)
        return
      } catch (error) {
        if (tries === 1) onQueueError(error)
        if (closed) return
        await wait(STORE_AGAIN_MS)
      }
    }
  }
  const run = async (job: Job, aborted: AbortSignal): Promise<void> => {
    const signal = AbortSignal.any([aborted, AbortSignal.timeout(MAX_RUN_MS)])
    const outcome = await attempt(task, job, signal, onError)
    await store(job, outcome)
    running.delete(job.id)
    onDone()
    wake()
    if (outcome) wake(outcome.afterSeconds * 1_000)
  }
  const start = (job: Job): void => {
    const abort = new AbortController()
    const { promise: done, resolve } = Promise.withResolvers<void>()
    running.set(job.id, { abort, done })
    void run(job, abort.signal).finally(resolve)
  }
  return {
    name: task.name,
    running: () => [...running.keys()],
    hasRoom,
    wake,
    abort(reason) {
      for (const { abort } of running.values()) abort.abort(reason)
    },
    idle: () => Promise.all([claiming, ...[...running.values()].map(({ done }) => done)]),
    close() {
      closed = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

/** Runs a job, and returns whether and when it has to run again. */
async function attempt(
  task: Task<object>,
  job: Job,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Outcome> {
  const { failures, outages, claims } = job
  if (claims - failures - outages > MAX_INTERRUPTIONS) {
    onError(
      new Error(`A job of ${task.name} is given up: ${MAX_INTERRUPTIONS} of its attempts were interrupted.`),
    )
    return null
  }
  const wasAway = (error: unknown): boolean =>
    outages < MAX_OUTAGES && (isUnavailable(error) || recordOf(error).cause instanceof ServiceAway)
  const isLast = (error: unknown): boolean => failures >= task.retries && !wasAway(error)
  try {
    const run = () => withTenant(job.tenant ?? '', () => task.run(job.payload, { isLast, signal }))
    await (task.bulk ? withLowPriority(run) : run())
    return null
  } catch (error) {
    if (signal.aborted) return { job, afterSeconds: 1 }
    if (isLast(error)) {
      onError(error)
      return null
    }
    return wasAway(error)
      ? {
          job: { ...job, outages: outages + 1 },
          afterSeconds: Math.min(MAX_OUTAGE_WAIT_SECONDS, 2 ** outages),
        }
      : { job: { ...job, failures: failures + 1 }, afterSeconds: 2 ** failures }
  }
}
