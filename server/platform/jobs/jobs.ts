import type { Db } from '../db/database.ts'

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
