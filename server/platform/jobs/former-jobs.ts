import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

/** Whether the database has the queue in which versions up to 0.1 keep their jobs. */
export async function hasFormerQueue(db: Db): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass('jobs.job') is not null as found`.execute(
    db,
  )
  return rows[0]?.found === true
}

/**
 * Takes over the jobs that wait in the former version's queue, and those of its processes that no longer report. During
 * a rolling upgrade its processes go on adding jobs. Rows of ended jobs are deleted, because there
 * may be no process of that version left to delete them.
 */
export async function takeOverFormerJobs(db: Db): Promise<void> {
  await sql`
    with gone as (
      delete from jobs.job
      where state <> 'active' or heartbeat_on + heartbeat_seconds * interval '1 second' < now()
      returning *
    )
    insert into jobs (task, tenant, payload, run_at, failures, outages)
    select name, group_id, data - 'failures' - 'outages',
      least(start_after, case when created_on > now() + interval '1 second' then now() end),
      coalesce((data ->> 'failures')::integer, 0), coalesce((data ->> 'outages')::integer, 0)
    from gone where state in ('created', 'retry', 'active') order by created_on`.execute(db)
}
