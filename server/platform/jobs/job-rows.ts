import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'
import { transact } from '../db/statements/transact.ts'

/** A claimed job. `claims` identifies the claim: whoever claims the job afterwards has a higher number. */
export type Job = {
  id: string
  tenant: string | null
  payload: object
  claims: number
  failures: number
  outages: number
}

/** A process that claims jobs; `running` holds the ids of those that it runs. */
type Claimer = { id: string; epoch: number; running: readonly string[] }

/** The class of the advisory locks that are held while a job of a task with shares is claimed; an arbitrary number. */
const CLAIMING = 7_275_396
/** A job that its process does not survive is free at once the first time, and then after growing delays. */
const MAX_INTERRUPTION_EXPONENT = 8

// A job that was queued in the future was queued before the clock of the database was set back, and is due.
const due = sql`least(run_at, case when queued_at > now() + interval '1 second' then now() end)`

/**
 * Whether a job is being run. A claim whose response was lost leaves a job that names this process and that it does
 * not run: such a job is free.
 */
const isTaken = (job: string, { id, running }: Claimer): RawBuilder<boolean> => sql`
  (${sql.ref(`${job}.id`)} = any(${running}::bigint[]) or exists (
    select from processes where processes.id = ${sql.ref(`${job}.process_id`)}
      and processes.epoch = ${sql.ref(`${job}.process_epoch`)} and processes.alive and processes.id <> ${id}))`

export async function insertJob(
  trx: Db,
  task: string,
  payload: object,
  afterSeconds: number,
  tenant: string | null,
): Promise<void> {
  await sql`
    insert into jobs (task, tenant, payload, run_at)
    values (${task}, ${tenant}, ${JSON.stringify(payload)}, now() + ${afterSeconds}::float8 * interval '1 second')`.execute(
    trx,
  )
}

/**
 * Claims the due job that has waited longest, among those of accounts that have fewer running jobs than `share`. A
 * process must not claim two jobs of the same task at the same time.
 */
export async function claimJob(
  db: Db,
  task: { name: string; share?: number },
  claimer: Claimer,
): Promise<Job | null> {
  const { name, share } = task
  const withinShare = sql`and (jobs.tenant is null or jobs.tenant not in (
    select busy.tenant from jobs as busy where busy.task = ${name} and busy.tenant is not null
      and ${isTaken('busy', claimer)} group by busy.tenant having count(*) >= ${share}::integer))`
  const claim = async (on: Db): Promise<Job | null> => {
    const { rows } = await sql<Job>`
      update jobs set process_id = ${claimer.id}, process_epoch = ${claimer.epoch}, claims = claims + 1,
        run_at = now() + power(2, least(claims - failures - outages, ${MAX_INTERRUPTION_EXPONENT}::integer))
          * interval '1 second'
      where id = (
        select id from jobs where task = ${name} and ${due} <= now() and not ${isTaken('jobs', claimer)}
          ${share === undefined ? sql`` : withinShare}
        order by run_at, id limit 1 for update skip locked)
      returning id, tenant, payload, claims, failures, outages`.execute(on)
    return rows[0] ?? null
  }
  if (share === undefined) return claim(db)
  return transact(db, async (trx) => {
    // Otherwise two processes could count at the same time, and both take the last part of a share.
    await sql`select pg_advisory_xact_lock(${CLAIMING}::integer, hashtext(${name}))`.execute(trx)
    return claim(trx)
  })
}

/** Removes a job that has ended, unless it has been claimed again. */
export async function deleteJob(db: Db, { id, claims }: Job): Promise<void> {
  await sql`delete from jobs where id = ${id} and claims = ${claims}`.execute(db)
}

/** Makes a job wait again, unless it has been claimed again. */
export async function putBackJob(
  db: Db,
  { id, claims, failures, outages }: Job,
  afterSeconds: number,
): Promise<void> {
  await sql`
    update jobs set process_id = null, process_epoch = null, failures = ${failures}, outages = ${outages},
      queued_at = now(), run_at = now() + ${afterSeconds}::float8 * interval '1 second'
    where id = ${id} and claims = ${claims}`.execute(db)
}

/** Returns the tasks that have free jobs, with the milliseconds until the first of them is due. */
export async function nextDue(
  db: Db,
  tasks: string[],
  claimer: Claimer,
): Promise<{ task: string; afterMs: number }[]> {
  const { rows } = await sql<{ task: string; afterMs: number }>`
    select task, (extract(epoch from min(${due}) - now()) * 1000)::float8 as "afterMs" from jobs
    where task = any(${tasks}) and not ${isTaken('jobs', claimer)} group by task`.execute(db)
  return rows
}
