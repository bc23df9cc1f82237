import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { ALWAYS_THERE, type Availability } from '../db/connections/availability.ts'
import { withLowPriority, withTenant } from '../db/connections/lanes.ts'
import { isUnavailable } from '../db/connections/unavailable.ts'
import type { Db } from '../db/database.ts'
import { localNotifier, type Notifier } from '../db/notifier.ts'
import { type DiskSpace, ROOM_ENOUGH } from '../db/upkeep/disk-space.ts'
import type { ServiceProcess } from '../db/upkeep/processes.ts'
import { hasFormerQueue, takeOverFormerJobs } from './former-jobs.ts'
import { claimJob, deleteJob, insertJob, type Job, nextDue, putBackJob } from './job-rows.ts'

/**
 * A background task: a stable name and what is done with a payload. The names are stored in the queue's rows, so
 * never rename one.
 */
export type Task<P extends object> = {
  name: string
  /** The most jobs that run at once in this process. */
  concurrency: number
  /** The most jobs of one account that run at once, across all processes together; unlimited if absent. */
  share?: number
  /** Whether the work has low priority because nobody waits for it; see withLowPriority. */
  bulk?: boolean
  /**
   * The number of retries after an attempt has thrown. An attempt does not count if its process died in it, or gave
   * it up in order to end, or if the database was unavailable, or another service (see ServiceAway).
   */
  retries: number
  /**
   * Runs the job. It must be idempotent for a payload, because a process may die between doing the work and
   * acknowledging it.
   */
  run(payload: P, attempt: Attempt): Promise<void>
}

export type Attempt = {
  /** Returns whether the job will not be run again when it throws this error. */
  isLast(error: unknown): boolean
  signal: AbortSignal
}

export type Jobs = {
  /**
   * Adds a job in the caller's transaction, to run `afterSeconds` from now; it exists exactly if that transaction
   * commits. For a task with shares, the job counts against the share of the account.
   */
  enqueue<P extends object>(
    trx: Db,
    task: string,
    payload: P,
    afterSeconds?: number,
    account?: string | null,
  ): Promise<void>
  /** Starts working on these tasks; without it the process only enqueues. */
  work(tasks: Task<never>[]): Promise<void>
  /** Stops taking jobs; running ones continue. */
  rest(): void
  /** Waits for running jobs, by default for up to 20 s, and aborts the others, which run again later. */
  close(ms?: number): Promise<void>
}

/** The cause of an error of a job that needs a service which is away. It is run again as if the database had been away. */
export class ServiceAway extends Error {}

/** How often the rows themselves are checked, to find jobs of dead processes and jobs whose notification was lost. */
const POLL_MS = 5_000
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

type Options = {
  db: Db
  process: Pick<ServiceProcess, 'id' | 'epoch' | 'onLost' | 'onDeath'>
  onError: (error: unknown) => void
  availability?: Availability
  space?: DiskSpace
  notifier?: Notifier
  /** Called after each job, which may have left work for others. */
  onDone?: () => void
}

/** What an attempt leaves: nothing, or a job that waits for this many seconds. */
type Outcome = { job: Job; afterSeconds: number } | null

/** A task that this process works on. */
type Worker = { task: Task<object>; running: number; isClaiming: boolean; wasWoken: boolean }

/** Opens the queue of jobs. A notification wakes the processes that work on a task; see POLL_MS for those that get lost. */
export function openJobs({
  db,
  process,
  onError,
  availability = ALWAYS_THERE,
  space = ROOM_ENOUGH,
  notifier = localNotifier(),
  onDone = () => {},
}: Options): Jobs {
  const workers = new Map<string, Worker>()
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>()
  const timers = new Map<string, NodeJS.Timeout>()
  let rests = false
  let closes = false
  let hasFormer = false
  // Jobs do not inherit the tenant or the priority of whoever enqueues or finishes one.
  const inOwnContext = AsyncLocalStorage.snapshot()
  const report = (error: unknown): void => {
    if (!availability.isDown()) onError(error)
  }
  const claimer = () => ({ id: process.id, epoch: process.epoch, running: [...running.keys()] })
  const mustWait = (): boolean => rests || space.isFull() || availability.isDown()

  const claimAll = async (worker: Worker): Promise<void> => {
    const { task } = worker
    while (worker.running < task.concurrency && !mustWait()) {
      const by = claimer()
      const job = await claimJob(db, task, by)
      if (job === null) return
      // Meanwhile this process was declared dead, and the job is free again.
      if (by.epoch !== process.epoch) continue
      if (rests) return putBackJob(db, job, 0)
      start(worker, job)
    }
  }
  const wakeNow = (worker: Worker): void => {
    worker.wasWoken = true
    if (worker.isClaiming) return
    worker.isClaiming = true
    const claim = async (): Promise<void> => {
      while (worker.wasWoken) {
        worker.wasWoken = false
        await claimAll(worker).catch(report)
      }
      worker.isClaiming = false
    }
    void inOwnContext(claim)
  }
  const wakeAll = (): void => {
    for (const worker of workers.values()) wakeNow(worker)
  }
  const wake = (name: string, afterMs: number): void => {
    const worker = workers.get(name)
    if (!worker || afterMs > POLL_MS) return
    if (afterMs <= 0) wakeNow(worker)
    if (afterMs <= 0) return
    const slot = `${name} ${Math.ceil((performance.now() + afterMs) / SLOT_MS)}`
    if (timers.has(slot)) return
    const timer = setTimeout(() => {
      timers.delete(slot)
      wakeNow(worker)
    }, afterMs + SLOT_MS)
    timers.set(slot, timer.unref())
  }
  const look = async (): Promise<void> => {
    if (mustWait()) return
    if (hasFormer) await takeOverFormerJobs(db)
    const free = [...workers.values()].filter((worker) => worker.running < worker.task.concurrency)
    const names = free.map(({ task }) => task.name)
    for (const { task, afterMs } of await nextDue(db, names, claimer())) wake(task, afterMs)
  }
  /** The claim is this process's until its end is stored, so that is tried until it succeeds. */
  const store = async (job: Job, outcome: Outcome): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        if (outcome === null) await deleteJob(db, job)
        else await putBackJob(db, outcome.job, outcome.afterSeconds)
        return
      } catch (error) {
        if (tries === 1) report(error)
        if (closes) return
        await wait(STORE_AGAIN_MS)
      }
    }
  }
  const start = (worker: Worker, job: Job): void => {
    const { task } = worker
    const abort = new AbortController()
    const run = async (): Promise<void> => {
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(MAX_RUN_MS)])
      const outcome = await attempt(task, job, signal, onError)
      await store(job, outcome)
      worker.running -= 1
      running.delete(job.id)
      onDone()
      wakeNow(worker)
      if (outcome) wake(task.name, outcome.afterSeconds * 1_000)
    }
    worker.running += 1
    running.set(job.id, { abort, done: run() })
  }

  const poll = setInterval(() => void inOwnContext(look).catch(report), POLL_MS)
  poll.unref()
  const forget = [
    notifier.on('job', (id) => {
      const [task = '', seconds = '0'] = id.split('/')
      wake(task, Number(seconds) * 1_000)
    }),
    notifier.onGap(wakeAll),
    availability.onChange((isDown) => {
      if (!isDown) wakeAll()
    }),
  ]
  process.onDeath(wakeAll)
  process.onLost(() => {
    for (const { abort } of running.values()) abort.abort(new Error('Another process may run this job.'))
  })
  return {
    async enqueue(trx, task, payload, afterSeconds = 0, account = null) {
      await insertJob(trx, task, payload, afterSeconds, account)
      await notifier.publish(trx, 'job', `${task}/${afterSeconds}`)
    },
    async work(tasks) {
      for (const task of tasks as Task<object>[])
        workers.set(task.name, { task, running: 0, isClaiming: false, wasWoken: false })
      hasFormer = await hasFormerQueue(db)
      await look()
    },
    rest() {
      rests = true
    },
    async close(ms = 20_000) {
      rests = true
      for (const stop of forget) stop()
      clearInterval(poll)
      for (const timer of timers.values()) clearTimeout(timer)
      const all = () => Promise.all([...running.values()].map(({ done }) => done))
      await Promise.race([all(), wait(ms, undefined, { ref: false })])
      closes = true
      for (const { abort } of running.values()) abort.abort(new Error('This process ends.'))
      // Most of them end at once. The rest are free as soon as the process is gone.
      await Promise.race([all(), wait(STORE_AGAIN_MS, undefined, { ref: false })])
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
    outages < MAX_OUTAGES && (isUnavailable(error) || (error as Error | null)?.cause instanceof ServiceAway)
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
