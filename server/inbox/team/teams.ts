import { type Selectable, sql } from 'kysely'
import { requireAgent } from '../../agents/records/find-agent.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent, ownRow } from '../../platform/db/refs.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { TeamsTable } from '../../platform/db/tables/helpdesk.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'

export type TeamRow = Selectable<TeamsTable> & { member_count: number }

const FIRST_NAME = 'Support'
const MAX_TEAMS = 100

/** Returns the agent's teams, the default one first, which is created if necessary. */
export async function teamsOf(db: Db, ref: AgentRef): Promise<TeamRow[]> {
  const known = await select(db, ref)
  if (known.some(({ is_default }) => is_default)) return known
  await transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    await ensureDefault(trx, ref)
  })
  return select(db, ref)
}

async function ensureDefault(trx: Trx, { accountId, agentId }: AgentRef): Promise<void> {
  const taken = await trx
    .selectFrom('teams')
    .select(['name', 'is_default'])
    .where(ofAgent({ accountId, agentId }))
    .execute()
  if (taken.some(({ is_default }) => is_default)) return
  const names = new Set(taken.map(({ name }) => name.toLowerCase()))
  let name = FIRST_NAME
  for (let count = 2; names.has(name.toLowerCase()); count++) name = `${FIRST_NAME} ${count}`
  await trx
    .insertInto('teams')
    .values({ id: newId(), account_id: accountId, agent_id: agentId, name, is_default: true })
    .execute()
}

async function select(
  db: Db,
  { accountId, agentId }: AgentRef,
  id: string | null = null,
): Promise<TeamRow[]> {
  const { rows } = await sql<TeamRow>`
    select teams.*, case when is_default then (select count(*) from members where account_id = ${accountId})
      else (select count(*) from team_members where team_id = teams.id) end as member_count
    from teams where account_id = ${accountId} and agent_id = ${agentId}
      and (${id}::uuid is null or id = ${id}::uuid)
    order by is_default desc, lower(name), id`.execute(db)
  return rows.map((row) => ({ ...row, member_count: Number(row.member_count) }))
}

async function requireTeam(db: Db, ref: AgentRef, id: string): Promise<TeamRow> {
  const [row] = isId(id) ? await select(db, ref, id) : []
  if (!row) throw new ApiError('RESOURCE_NOT_FOUND', { message: 'The team does not exist.' })
  return row
}

type Fields = { name?: string; memberIds?: string[] }

/** Throws RESOURCE_DUPLICATE if the name is taken, and TEAM_MEMBER_NOT_FOUND for an unknown member. */
export async function createTeam(
  db: Db,
  ref: AgentRef,
  { name, memberIds }: Fields & { name: string },
): Promise<TeamRow> {
  return transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    await ensureDefault(trx, ref)
    const known = await select(trx, ref)
    if (known.length >= MAX_TEAMS) throw invalidField('name', `An agent has at most ${MAX_TEAMS} teams.`)
    refuseTaken(known, name)
    const id = newId()
    await trx
      .insertInto('teams')
      .values({ id, account_id: ref.accountId, agent_id: ref.agentId, name: name.trim() })
      .execute()
    if (memberIds) await setMembers(trx, ref.accountId, id, memberIds)
    return requireTeam(trx, ref, id)
  })
}

export async function updateTeam(
  db: Db,
  ref: AgentRef,
  id: string,
  { name, memberIds }: Fields,
): Promise<TeamRow> {
  return transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    const team = await requireTeam(trx, ref, id)
    if (memberIds && team.is_default) {
      throw invalidField('memberIds', 'The default team contains all members of the account.')
    }
    if (name !== undefined) {
      refuseTaken(
        (await select(trx, ref)).filter((other) => other.id !== id),
        name,
      )
      await trx.updateTable('teams').set({ name: name.trim() }).where(ownRow(ref.accountId, id)).execute()
    }
    if (memberIds) await setMembers(trx, ref.accountId, id, memberIds)
    return requireTeam(trx, ref, id)
  })
}

export async function deleteTeam(db: Db, ref: AgentRef, id: string): Promise<void> {
  await transact(db, async (trx) => {
    await requireAgent(trx, ref, 'update')
    const team = await requireTeam(trx, ref, id)
    if (team.is_default) throw invalidField('teamId', 'The default team cannot be deleted.')
    // Tickets are locked before their team, as when a ticket is changed.
    await trx
      .updateTable('tickets')
      .set({ team_id: null })
      .where('account_id', '=', ref.accountId)
      .where('team_id', '=', id)
      .execute()
    await trx.deleteFrom('teams').where('account_id', '=', ref.accountId).where('id', '=', id).execute()
  })
}

function refuseTaken(known: TeamRow[], name: string): void {
  const wanted = name.trim().toLowerCase()
  if (known.some((team) => team.name.toLowerCase() === wanted)) {
    throw new ApiError('RESOURCE_DUPLICATE', { message: 'The agent already has a team with this name.' })
  }
}

async function setMembers(
  trx: Trx,
  accountId: AccountId,
  teamId: string,
  memberIds: string[],
): Promise<void> {
  const wanted = memberIds.filter(isId)
  const known =
    wanted.length === 0
      ? []
      : await trx
          .selectFrom('members')
          .select('id')
          .where('account_id', '=', accountId)
          .where('id', 'in', wanted)
          // Members are locked before their memberships, as when a member is removed.
          .orderBy('id')
          .forKeyShare()
          .execute()
  if (known.length !== memberIds.length) throw new ApiError('TEAM_MEMBER_NOT_FOUND')
  await trx
    .deleteFrom('team_members')
    .where('account_id', '=', accountId)
    .where('team_id', '=', teamId)
    .execute()
  if (known.length === 0) return
  await trx
    .insertInto('team_members')
    .values(known.map(({ id }) => ({ team_id: teamId, member_id: id, account_id: accountId })))
    .execute()
}
