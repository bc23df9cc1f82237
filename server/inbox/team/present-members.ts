import { sql } from 'kysely'
import { type MemberRow, membersOf, presenceOf } from '../../accounts/records/members.ts'
import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'

/** Returns the members of the account with their figures in the help desk of one agent. */
export async function presentMembers(db: Db, { accountId, agentId }: AgentRef) {
  const members = await membersOf(db, accountId)
  const { rows: loads } = await sql<{ id: string; n: number }>`
    select assignee_id as id, count(*) as n from tickets where account_id = ${accountId}
      and assignee_id is not null and status_category not in ('closed', 'cancelled') group by 1`.execute(db)
  const { rows: places } = await sql<{ id: string; team: string }>`
    select member_id as id, team_id as team from team_members
    join teams on teams.id = team_members.team_id where teams.account_id = ${accountId} and agent_id = ${agentId}
    order by team_id`.execute(db)
  const loadOf = new Map(loads.map(({ id, n }) => [id, Number(n)]))
  return members.map((member: MemberRow) => ({
    id: member.id,
    name: member.name,
    email: member.email,
    presence: presenceOf(member),
    lastSeenAt: member.last_seen_at?.toISOString() ?? null,
    openTickets: loadOf.get(member.id) ?? 0,
    teamIds: places.filter(({ id }) => id === member.id).map(({ team }) => team),
  }))
}
