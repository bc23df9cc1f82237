import { sql } from 'kysely'
import { PRESENCE_MINUTES } from '../../accounts/records/members.ts'
import type { Trx } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'

/**
 * Returns the member who gets the next ticket: the present member of the team with the fewest open tickets, and
 * among those the one whose last assignment is the oldest. Returns null when nobody is present. Without a team, all
 * members of the account count. The members stay locked, so that two tickets at once go to different members.
 */
export async function leastLoaded(
  trx: Trx,
  accountId: AccountId,
  teamId: string | null,
): Promise<string | null> {
  const { rows: present } = await sql<{ id: string }>`
    select id from members where account_id = ${accountId} and presence = 'online'
      and last_seen_at > now() - ${PRESENCE_MINUTES} * interval '1 minute'
      and (${teamId}::uuid is null
        or exists (select from teams where account_id = ${accountId} and id = ${teamId}::uuid and is_default)
        or exists (select from team_members where team_id = ${teamId}::uuid and member_id = members.id))
    order by id for no key update`.execute(trx)
  if (present.length === 0) return null
  const ids = present.map(({ id }) => id)
  // The tickets are counted after the lock, so that assignments by others are included.
  const { rows } = await sql<{ id: string }>`
    update members set last_assigned_at = clock_timestamp() where id = (
      select m.id from members as m where m.account_id = ${accountId} and m.id = any(${ids}::uuid[])
      order by (select count(*) from tickets where assignee_id = m.id
          and status_category not in ('closed', 'cancelled')),
        m.last_assigned_at nulls first, m.id
      limit 1)
    returning id`.execute(trx)
  return rows[0]?.id ?? null
}
