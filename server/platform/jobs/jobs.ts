import { sql } from 'kysely'
import { fromKysely, type JobWithMetadata, PgBoss } from 'pg-boss'
import { ALWAYS_THERE, type Availability } from '../db/connections/availability.ts'
import { withLowPriority, withTenant } from '../db/connections/lanes.ts'
import { isUnavailable } from '../db/connections/unavailable.ts'
import type { Db } from '../db/database.ts'
import { localNotifier, type Notifier } from '../db/notifier.ts'
import { type DiskSpace, ROOM_ENOUGH } from '../db/upkeep/disk-space.ts'
import { correctTimes } from './correct-times.ts'
import { createWaker } from './wake.ts'

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
  /** Creates the queues of these tasks. Every process does so at start, before anything is enqueued. */
  prepare(tasks: Task<never>[]): Promise<void>
  /** Starts working on these tasks; without it the process only enqueues. */
  work(tasks: Task<never>[]): Promise<void>
  /** Stops taking jobs; running ones continue. */
  rest(): Promise<void>
  /** Makes jobs whose process has died run again. One process must call it every few seconds. */
  requeueOrphaned(): Promise<void>
  /** Waits for running jobs, by default for up to 20 s; the others run again later. */
  close(ms?: number): Promise<void>
}

// Workers are woken when there is work, so pg-boss's own polling is not needed.
const POLL_SECONDS = 600
// The shortest heartbeat that pg-boss accepts. A job of a killed process runs again after this time.
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 60
/** The most times that a process may die, or be stopped, while it works on a job. */
const MAX_BREAKS = 50
const NO_JOB = '00000000-0000-0000-0000-000000000000'

/** The cause of an error of a job that needs a service which is away. It is run again as if the database had been away. */
export class ServiceAway extends Error {}

/**
 * The most attempts that do not count because the database was unavailable. Their growing delays add up to more than an hour;
 * whatever still fails has another reason, such as a statement that always takes too long.
 */
const MAX_OUTAGES = 20
const MAX_OUTAGE_WAIT_SECONDS = 300
/** How long a job is put back that was being fetched when the disk became full. */
const FULL_WAIT_SECONDS = 30

/** A payload with the number of its failed attempts, and of those during which the database was unavailable. */
type Counted = { failures?: number; outages?: number }

type Options = {
  db: Db
  embedded: boolean
  onError: (error: unknown) => void
  availability?: Availability
  space?: DiskSpace
  notifier?: Notifier
  /** Called after each job, which may have left work for others. */
  onDone?: () => void
}

/** Opens the queue and creates its tables if necessary. */
export async function openJobs({
  db,
  embedded,
  onError,
  availability = ALWAYS_THERE,
  space = ROOM_ENOUGH,
  notifier = localNotifier(),
  onDone = () => {},
}: Options): Promise<Jobs> {
  const boss = new PgBoss({
    db: fromKysely(db),
    ...(embedded ? { backend: 'pglite' as const } : {}),
    schema: 'jobs',
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    // Checks for dead processes at most this often.
    monitorIntervalSeconds: 2,
    // Jobs that depend on others and scheduled jobs are not used.
    flowIntervalSeconds: 3_600,
    schedule: false,
    reindex: false,
  })
  boss.on('error', (error) => {
    if (!availability.isDown()) onError(error)
  })
  await boss.start()
  const waker = createWaker(db, space, (error) => {
    if (!availability.isDown()) onError(error)
  })
  const working = new Set<string>()
  const underWay = new Map<string, number>()
  let rests = false
  const forget = [
    notifier.on('job', (id) => {
      const [task = '', seconds = '0'] = id.split('/')
      waker.wake(task, Number(seconds) * 1_000)
    }),
    notifier.onGap(() => waker.wakeAll()),
    availability.onChange((isDown) => {
      if (!isDown) waker.wakeAll()
    }),
  ]
  /**
   * Runs a job within its account's share. Workers that fetch at the same time may together get more jobs of an
   * account than its share, and the surplus is put back to wait.
   */
  const shared = async (task: Task<object>, job: JobWithMetadata<object>): Promise<void> => {
    const { groupId } = job
    if (task.share === undefined || !groupId) return attempt(task, job)
    const key = `${task.name} ${groupId}`
    const has = underWay.get(key) ?? 0
    if (has >= task.share) return send(db, task.name, job.data, 1, groupId)
    underWay.set(key, has + 1)
    try {
      await attempt(task, job)
    } finally {
      const left = (underWay.get(key) ?? 1) - 1
      if (left > 0) underWay.set(key, left)
      else underWay.delete(key)
    }
  }
  const attempt = async (task: Task<object>, job: JobWithMetadata<object>): Promise<void> => {
    const { failures = 0, outages = 0, ...payload } = job.data as Counted
    const { signal } = job
    const wasAway = (error: unknown): boolean =>
      outages < MAX_OUTAGES && (isUnavailable(error) || (error as Error | null)?.cause instanceof ServiceAway)
    const isLast = (error: unknown): boolean => failures >= task.retries && !wasAway(error)
    try {
      const run = () => withTenant(job.groupId ?? '', () => task.run(payload, { isLast, signal }))
      await (task.bulk ? withLowPriority(run) : run())
    } catch (error) {
      if (signal.aborted) throw error
      if (isLast(error)) return onError(error)
      // The queue's own count cannot tell an attempt that failed from one that its process did not survive.
      const again: Counted = wasAway(error)
        ? { ...payload, failures, outages: outages + 1 }
        : { ...payload, failures: failures + 1, outages }
      const wait = wasAway(error) ? Math.min(MAX_OUTAGE_WAIT_SECONDS, 2 ** outages) : 2 ** failures
      await send(db, task.name, again, wait, job.groupId)
    }
  }
  const send = async (
    trx: Db,
    task: string,
    payload: object,
    afterSeconds: number,
    account: string | null = null,
  ): Promise<void> => {
    await boss.send(task, payload, {
      db: fromKysely(trx),
      startAfter: afterSeconds,
      retryLimit: MAX_BREAKS,
      ...(account === null ? {} : { group: { id: account } }),
    })
    await notifier.publish(trx, 'job', `${task}/${afterSeconds}`)
  }
  return {
    enqueue: (trx, task, payload, afterSeconds = 0, account = null) =>
      send(trx, task, payload, afterSeconds, account),
    async prepare(tasks) {
      // Queues that exist need nothing: pg-boss read their rows when it started.
      const queues = new Set((await boss.getQueues()).map(({ name }) => name))
      for (const { name } of tasks.filter(({ name }) => !queues.has(name))) {
        const limits = {
          retryDelay: 1,
          retryBackoff: true,
          heartbeatSeconds: HEARTBEAT_SECONDS,
        }
        await boss.createQueue(name, { ...limits, expireInSeconds: 3600, deleteAfterSeconds: 3600 })
        // pg-boss reads a queue's row once, over its own connection; inside the first enqueue's transaction that
        // would wait for the embedded database's only connection for ever.
        await boss.findJobs(name, { id: NO_JOB })
      }
    },
    async work(tasks) {
      for (const task of tasks as unknown as Task<object>[]) {
        working.add(task.name)
        for (let i = 0; i < task.concurrency; i++) {
          const hand = { busy: false, wake: () => boss.notifyWorker(id) }
          const id = await boss.work(
            task.name,
            {
              pollingIntervalSeconds: POLL_SECONDS,
              includeMetadata: true as const,
              ...(task.share === undefined ? {} : { groupConcurrency: task.share }),
            },
            async ([job]: JobWithMetadata<object>[]) => {
              if (!job) return
              // A worker that was already fetching a job when `rest` was called puts it back.
              if (rests) return send(db, task.name, job.data, 0, job.groupId)
              if (space.isFull()) return send(db, task.name, job.data, FULL_WAIT_SECONDS, job.groupId)
              hand.busy = true
              // If there was one job, there may be more.
              waker.wake(task.name)
              try {
                await shared(task, job)
              } finally {
                hand.busy = false
                hand.wake()
                onDone()
              }
            },
          )
          waker.add(task.name, hand)
        }
      }
      await waker.look()
    },
    async rest() {
      rests = true
      waker.close()
      await Promise.all([...working].map((task) => boss.offWork(task, { wait: false })))
    },
    async requeueOrphaned() {
      await correctTimes(db)
      const { rows } = await sql`
        select from jobs.job where state = 'active' and heartbeat_seconds is not null
          and heartbeat_on + heartbeat_seconds * interval '1 second' < now() limit 1`.execute(db)
      if (rows.length > 0) await boss.supervise()
    },
    async close(ms = 20_000) {
      for (const stop of forget) stop()
      waker.close()
      await boss.stop({ graceful: true, timeout: ms, close: false })
    },
  }
}
