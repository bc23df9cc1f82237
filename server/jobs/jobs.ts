import { fromKysely, type JobWithMetadata, PgBoss } from 'pg-boss'
import type { Db } from '../db/database.ts'

/** Background work: a stable name, and what is done with a payload. Names are rows in the queue: never rename one. */
export type Task<P extends object> = {
  name: string
  /** Jobs at once in this process. */
  concurrency: number
  /** Attempts after the first one that threw. One that a process died in, or gave up because it ended, does not count. */
  retries: number
  /** Must bear to run twice for one payload: a process may die between the work and its receipt. */
  run(payload: P, attempt: { last: boolean; signal: AbortSignal }): Promise<void>
}

export type Jobs = {
  /** Adds a job in the caller's transaction, to be done `afterSeconds` from now: it exists exactly if that commits. */
  enqueue<P extends object>(trx: Db, task: string, payload: P, afterSeconds?: number): Promise<void>
  /** Makes the queues of these tasks; every process does it at start, before anything is enqueued. */
  prepare(tasks: Task<never>[]): Promise<void>
  /** Starts working on these tasks; without it the process only enqueues. */
  work(tasks: Task<never>[]): Promise<void>
  /** Lets running jobs finish for up to 20 s; what is left is run again later. */
  close(): Promise<void>
}

const POLL_SECONDS = 0.5
// The least that pg-boss takes. A job of a killed process is run again after this time.
const HEARTBEAT_SECONDS = 10
/** So often a process may die, or be stopped, while it works on a job. */
const MOST_BREAKS = 50
const NO_JOB = '00000000-0000-0000-0000-000000000000'

/** A payload with how often it failed. */
type Counted = { failures?: number }

type Options = { db: Db; embedded: boolean; onError: (error: unknown) => void }

/** Opens the queue, making its tables when needed. */
export async function openJobs({ db, embedded, onError }: Options): Promise<Jobs> {
  const boss = new PgBoss({
    db: fromKysely(db),
    ...(embedded ? { backend: 'pglite' as const } : {}),
    schema: 'jobs',
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    reindex: false,
  })
  boss.on('error', onError)
  await boss.start()
  return {
    async enqueue(trx, task, payload, afterSeconds = 0) {
      await boss.send(task, payload, {
        db: fromKysely(trx),
        startAfter: afterSeconds,
        retryLimit: MOST_BREAKS,
      })
    },
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
        await boss.work(
          task.name,
          {
            pollingIntervalSeconds: POLL_SECONDS,
            localConcurrency: task.concurrency,
            includeMetadata: true as const,
          },
          async ([job]: JobWithMetadata<object>[]) => {
            if (!job) return
            const { failures = 0, ...payload } = job.data as Counted
            const last = failures >= task.retries
            try {
              await task.run(payload, { last, signal: job.signal })
            } catch (error) {
              if (job.signal.aborted) throw error
              if (last) return onError(error)
              // The queue's own count cannot tell an attempt that failed from one that its process did not survive.
              const again: Counted = { ...payload, failures: failures + 1 }
              await boss.send(task.name, again, { startAfter: 2 ** failures, retryLimit: MOST_BREAKS })
            }
          },
        )
      }
    },
    async close() {
      await boss.stop({ graceful: true, timeout: 20_000, close: false })
    },
  }
}
