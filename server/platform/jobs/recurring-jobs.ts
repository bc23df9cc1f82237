import { sql } from 'kysely'
import type { Availability } from '../db/connections/availability.ts'
import type { Db } from '../db/database.ts'
import { type DiskSpace, ROOM_ENOUGH } from '../db/upkeep/disk-space.ts'
import type { ServiceProcess } from '../db/upkeep/processes.ts'

/**
 * Recurring work of an installation. One of its processes runs it, but several may do so at once, so it must be safe to
 * run twice.
 */
export type RecurringJob = {
  /** What the recurring job does, which is also its name in the table of recurring jobs. */
  what: string
  everyMs: number
  /** If set, this process also runs the recurring job this many milliseconds after activity of its own. */
  soonMs?: number
  /** By default only processes that work on jobs run a recurring job; `all` processes run those that somebody waits for. */
  processes?: 'all'
  /** If set, the recurring job also runs at once when another process has died. */
  afterDeath?: true
  run(): Promise<unknown>
  /** What each process does before it is ready, while nothing else of it runs yet. */
  atStart?(): Promise<unknown>
  /** Waits for what the recurring job left running, or ends it. */
  close?(): Promise<unknown>
}

type Deps = {
  db: Db
  availability: Availability
  /** The room for the database; while there is none, no recurring job starts. */
  databaseSpace?: DiskSpace
  process: Pick<ServiceProcess, 'onDeath'>
  /** Calls the listener after this process has done something that may have left work. */
  onActivity(listener: () => void): () => void
  /** Reports the failure of the recurring job with this name. */
  onError(error: unknown, what: string): void
}

const SECOND = 1_000
/** How often each process checks for due recurring jobs; no recurring job is due more often. */
export const POLL_MS = 5 * SECOND
/** The tolerance for checks that are not exactly on time. */
const SLACK_MS = 500

/**
 * Runs every recurring job once, and from then on this process's share of the installation's recurring jobs. Returns a function that
 * stops it.
 */
export async function startRecurringJobs(
  needs: Deps,
  duties: readonly RecurringJob[],
): Promise<() => Promise<void>> {
  const { db, availability, databaseSpace = ROOM_ENOUGH, process, onActivity, onError } = needs
  const mustWait = (): boolean => availability.isDown() || databaseSpace.isFull()
  const report = (what: string) => (error: unknown) => onError(error, what)
  for (const { what, atStart } of duties) await atStart?.().catch(report(what))
  const running = new Map<string, Promise<unknown>>()
  const once = ({ what, run }: RecurringJob): void => {
    if (running.has(what) || mustWait()) return
    const done = run()
      .catch(report(what))
      .finally(() => running.delete(what))
    running.set(what, done)
  }
  const look = async (all = false): Promise<void> => {
    if (mustWait()) return
    const due = await claimDuties(db, duties, all).catch(report('duties'))
    for (const duty of duties) if (due?.has(duty.what)) once(duty)
  }
  const soon = new Map<RecurringJob, NodeJS.Timeout>()
  const schedule = (duty: RecurringJob, afterMs: number): void => {
    const later = (): void => {
      soon.delete(duty)
      once(duty)
    }
    if (!soon.has(duty)) soon.set(duty, setTimeout(later, afterMs))
  }
  const forget = [
    onActivity(() => {
      for (const duty of duties) if (duty.soonMs) schedule(duty, duty.soonMs)
    }),
    availability.onChange(() => void look()),
  ]
  process.onDeath(() => {
    for (const { what, afterDeath, run } of duties) if (afterDeath) run().catch(report(what))
  })
  const timers = [setTimeout(look, SECOND, true), setInterval(look, POLL_MS)]
  return async () => {
    for (const stop of forget) stop()
    for (const timer of [...timers, ...soon.values()]) clearTimeout(timer)
    await Promise.all([...running.values(), ...duties.map(({ close }) => close?.())])
  }
}

/**
 * Claims the recurring jobs that are due, or `all` of them, for this process and returns their names. A recurring job that is due later
 * than a whole interval from now was claimed before the clock of the database was set back.
 */
async function claimDuties(db: Db, duties: readonly RecurringJob[], all: boolean): Promise<Set<string>> {
  const names = duties.map(({ what }) => what)
  const everyMs = duties.map(({ everyMs }) => everyMs)
  if (all)
    await sql`
      insert into duties (name) select name from unnest(${names}::text[]) as name order by name
      on conflict (name) do nothing`.execute(db)
  // Recurring jobs that another process is claiming are skipped.
  const { rows } = await sql<{ name: string }>`
    with due as (
      select duties.name, every_ms from duties
      join unnest(${names}::text[], ${everyMs}::integer[]) as wanted (name, every_ms) on wanted.name = duties.name
      where ${all}::boolean or next_at <= now() + ${SLACK_MS}::integer * interval '1 millisecond'
        or next_at > now() + (every_ms + ${SLACK_MS}::integer) * interval '1 millisecond'
      order by duties.name for no key update of duties skip locked
    )
    update duties set next_at = now() + due.every_ms * interval '1 millisecond'
    from due where duties.name = due.name
    returning duties.name`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** What this process did that may have left work for others, such as a request or a job. */
type Activity = {
  note(): void
  onNote(listener: () => void): () => void
  /** Returns when the newest was, in milliseconds of the monotonic clock. */
  lastAt(): number
}

export function createActivity(): Activity {
  const listeners = new Set<() => void>()
  let last = 0
  return {
    note() {
      last = performance.now()
      for (const listener of listeners) listener()
    },
    onNote(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastAt: () => last,
  }
}
