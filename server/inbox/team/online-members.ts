import { sql } from 'kysely'
import { PRESENCE_MINUTES } from '../../accounts/records/members.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { businessTime } from '../clocks/business-time.ts'
import { readSettings } from '../settings/settings.ts'

/** What somebody who waits for the team can be told about its availability. */
type TeamPresence = {
  isThere: boolean
  /**
   * The beginning of the next business hours and their time zone; null during business hours and when there are
   * none.
   */
  opensAt: string | null
  timeZone: string | null
}

export async function onlineMembers(db: Db, { accountId, agentId }: AgentRef): Promise<TeamPresence> {
  const { rows } = await sql<{ is_there: boolean }>`
    select exists (select from members where account_id = ${accountId} and presence = 'online'
      and last_seen_at > now() - ${PRESENCE_MINUTES} * interval '1 minute') as is_there`.execute(db)
  const { businessHours } = await readSettings(db, { accountId, agentId })
  const now = Date.now()
  // Returns the first millisecond that counts from now on.
  const opens = businessTime(businessHours).add(now, 1) - 1
  return {
    isThere: rows[0]?.is_there ?? false,
    opensAt: opens > now ? new Date(opens).toISOString() : null,
    timeZone: businessHours?.timeZone ?? null,
  }
}
