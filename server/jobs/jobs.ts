import { sql } from 'kysely'
import { fromKysely, type JobWithMetadata, PgBoss } from 'pg-boss'
import { ALWAYS_THERE, type Availability } from '../db/availability.ts'
import type { Db } from '../db/database.ts'
import { asBulk, onBehalfOf } from '../db/lanes.ts'
import { localNotifier, type Notifier } from '../db/notifier.ts'
import { createWaker } from './wake.ts'

/** Background work: a stable name, and what is done with a payload. Names are rows in the queue: never rename one. */
export type Task<P extends object> = {
  name: string
  /** Jobs at once in this process. */
  concurrency: number
  /** How many of those one account may run at once, also across all processes together; unlimited when absent. */
  share?: number
  /** Nobody waits for it: see asBulk. */
  bulk?: boolean
  /** Attempts after the first one that threw. One that a process died in, or gave up because it ended, does not count. */
  retries: number
  /** Must bear to run twice for one payload: a process may die between the work and its receipt. */
  run(payload: P, attempt: { last: boolean; signal: AbortSignal }): Promise<void>
}

export type Jobs = {
  /**
   * Adds a job in the caller's transaction, to be done `afterSeconds` from now: it exists exactly if that commits. The
   * account is whose work it is, for a task that has shares.
   */
  enqueue<P extends object>(
    trx: Db,
    task: string,
    payload: P,
    afterSeconds?: number,
    account?: string | null,
  ): Promise<void>
  /** Makes the queues of these tasks; every process does it at start, before anything is enqueued. */
  prepare(tasks: Task<never>[]): Promise<void>
  /** Starts working on these tasks; without it the process only enqueues. */
  work(tasks: Task<never>[]): Promise<void>
  /** Takes no more jobs; what runs goes on. */
  rest(): Promise<void>
  /** Has jobs whose process has died run again; to be called every few seconds by one process. */
  revive(): Promise<void>
  /** Lets running jobs finish for up to 20 s; what is left is run again later. */
  close(): Promise<void>
}

// Hands are woken; pg-boss's own look at the queue is of no use then.
const POLL_SECONDS = 600
// The least that pg-boss takes. A job of a killed process is run again after this time.
const HEARTBEAT_SECONDS = 10
const SUPERVISE_SECONDS = 60
/** So often a process may die, or be stopped, while it works on a job. */
const MOST_BREAKS = 50
const NO_JOB = '00000000-0000-0000-0000-000000000000'

/** A payload with how often it failed. */
type Counted = { failures?: number }

type Options = {
  db: Db
  embedded: boolean
  onError: (error: unknown) => void
  availability?: Availability
  notifier?: Notifier
  /** Told after each job, which may have left work for others. */
  onDone?: () => void
}

/** Opens the queue, making its tables when needed. */
export async function openJobs({
  db,
  embedded,
  onError,
  availability = ALWAYS_THERE,
  notifier = localNotifier(),
  onDone = () => {},
}: Options): Promise<Jobs> {
  const boss = new PgBoss({
    db: fromKysely(db),
    ...(embedded ? { backend: 'pglite' as const } : {}),
    schema: 'jobs',
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    // Of two looks for dead processes within this time one is enough.
    monitorIntervalSeconds: 2,
    // No jobs that depend on others, and none by the calendar.
    flowIntervalSeconds: 3_600,
    schedule: false,
    reindex: false,
  })
  boss.on('error', (error) => {
    if (!availability.isAway()) onError(error)
  })
  await boss.start()
  const waker = createWaker(db, (error) => {
    if (!availability.isAway()) onError(error)
  })
  const working = new Set<string>()
  const underWay = new Map<string, number>()
  const forget = [
    notifier.on('job', (id) => {
      const [task = '', seconds = '0'] = id.split('/')
      waker.wake(task, Number(seconds) * 1_000)
    }),
    notifier.onGap(() => waker.wakeAll()),
    availability.onChange((isAway) => {
      if (!isAway) waker.wakeAll()
    }),
  ]
  /** Hands that look at the same time may be given more of an account than its share: what is too much waits again. */
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
    const { failures = 0, ...payload } = job.data as Counted
    const last = failures >= task.retries
    try {
      const run = () => onBehalfOf(job.groupId ?? '', () => task.run(payload, { last, signal: job.signal }))
      await (task.bulk ? asBulk(run) : run())
    } catch (error) {
      if (job.signal.aborted) throw error
      if (last) return onError(error)
      // The queue's own count cannot tell an attempt that failed from one that its process did not survive.
      const again: Counted = { ...payload, failures: failures + 1 }
      await send(db, task.name, again, 2 ** failures, job.groupId)
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
      retryLimit: MOST_BREAKS,
      ...(account === null ? {} : { group: { id: account } }),
    })
    await notifier.publish(trx, 'job', `${task}/${afterSeconds}`)
  }
  return {
    enqueue: (trx, task, payload, afterSeconds = 0, account = null) =>
      send(trx, task, payload, afterSeconds, account),
    async prepare(tasks) {
      for (const { name } of tasks) {
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
              hand.busy = true
              // Where one job was there may be more.
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
      waker.close()
      await Promise.all([...working].map((task) => boss.offWork(task, { wait: false })))
    },
    async revive() {
      const { rows } = await sql`
        select from jobs.job where state = 'active' and heartbeat_seconds is not null
          and heartbeat_on + heartbeat_seconds * interval '1 second' < now() limit 1`.execute(db)
      if (rows.length > 0) await boss.supervise()
    },
    async close() {
      for (const stop of forget) stop()
      waker.close()
      await boss.stop({ graceful: true, timeout: 20_000, close: false })
    },
  }
}
