import { sql } from 'kysely'
import type { Db } from '../db/database.ts'

/**
 * Corrects the times of jobs that were created, started or last heard of in the future, because the clock of the
 * database has been set back since. Otherwise they would wait for the clock to get there again.
 */
export async function correctTimes(db: Db): Promise<void> {
  await sql`
    with late as (
      select name, id, greatest(created_on, started_on) - now() as ahead from jobs.job
      where state < 'active' and greatest(created_on, started_on) > now() + interval '1 second'
    ), delayed as (
      update jobs.job set start_after = start_after - ahead, created_on = least(created_on, now()),
        started_on = least(started_on, now())
      from late where job.name = late.name and job.id = late.id
    ), under_way as (
      update jobs.job set heartbeat_on = now()
      where state = 'active' and heartbeat_on > now() + interval '1 second'
    )
    update jobs.queue set monitor_claim_on = null where monitor_claim_on > now() + interval '1 second'`.execute(
    db,
  )
}
