import { type Selectable, sql } from 'kysely'
import type { Static } from 'typebox'
import type { Db, Trx } from '../../platform/db/database.ts'
import { isId, newId } from '../../platform/db/ids.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { InboxViewsTable } from '../../platform/db/tables/helpdesk.ts'
import { commaList } from '../../platform/http/contract.ts'
import { ApiError, invalidField } from '../../platform/http/errors.ts'
import type { Caller } from '../../platform/http/route.ts'
import { requireMember } from '../team/find-member.ts'
import type { createInboxView } from './contract.ts'

export type ViewRow = Selectable<InboxViewsTable>
type Wanted = Static<typeof createInboxView.body>

const MAX_VIEWS = 200

/** The views that the caller sees: everybody's, those of their teams, and their own. A key sees no member's own. */
const isSeenBy = ({ account, member }: Caller) =>
  member
    ? sql<boolean>`account_id = ${account.id} and (member_id = ${member.id}
        or member_id is null and team_id is null
        or team_id in (select id from teams where account_id = ${account.id}
          and (${member.agentIds}::text[] is null or agent_id = any(${member.agentIds}::text[]))
          and (is_default or id in (select team_id from team_members
            where account_id = ${account.id} and member_id = ${member.id}))))`
    : sql<boolean>`account_id = ${account.id} and member_id is null`

export async function viewsOf(db: Db, caller: Caller): Promise<ViewRow[]> {
  return db
    .selectFrom('inbox_views')
    .selectAll()
    .where(isSeenBy(caller))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** Throws for ids that the caller cannot know, and VALIDATION_INVALID_BODY when the account has too many views. */
export async function createView(trx: Trx, caller: Caller, wanted: Wanted): Promise<ViewRow> {
  const { id: accountId } = caller.account
  await refuseUnknown(trx, caller, wanted.query)
  const owner = await ownerOf(trx, caller, wanted)
  await sql`select from accounts where id = ${accountId} for no key update`.execute(trx)
  const { n } = await trx
    .selectFrom('inbox_views')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  if (Number(n) >= MAX_VIEWS)
    throw invalidField('name', `The account has ${MAX_VIEWS} views. Delete one of them first.`)
  return trx
    .insertInto('inbox_views')
    .values({
      id: newId(),
      account_id: accountId,
      ...owner,
      name: wanted.name.trim(),
      query: json(wanted.query),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Throws RESOURCE_NOT_FOUND for a view that the caller does not see, and as createView does. */
export async function updateView(db: Db, caller: Caller, id: string, wanted: Wanted): Promise<ViewRow> {
  await refuseUnknown(db, caller, wanted.query)
  const owner = await ownerOf(db, caller, wanted)
  const row = isId(id)
    ? await db
        .updateTable('inbox_views')
        .set({ ...owner, name: wanted.name.trim(), query: json(wanted.query), updated_at: new Date() })
        .where(isSeenBy(caller))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined
  if (!row) throw noView()
  return row
}

export async function deleteView(db: Db, caller: Caller, id: string): Promise<void> {
  const deleted = isId(id)
    ? await db.deleteFrom('inbox_views').where(isSeenBy(caller)).where('id', '=', id).executeTakeFirst()
    : undefined
  if (!deleted?.numDeletedRows) throw noView()
}

/** Throws AGENT_NOT_FOUND, TICKET_TEAM_NOT_FOUND or TEAM_MEMBER_NOT_FOUND for ids in a view's filters. */
async function refuseUnknown(db: Db, { account, member }: Caller, query: Wanted['query']): Promise<void> {
  const agents = commaList(query.agentId)
  if (agents.length > 0) {
    const known = await db
      .selectFrom('agents')
      .select('id')
      .where('account_id', '=', account.id)
      .where('id', 'in', agents)
      .execute()
    const allowed = known.filter(({ id }) => member?.agentIds?.includes(id) ?? true)
    if (allowed.length < agents.length) throw new ApiError('AGENT_NOT_FOUND')
  }
  for (const teamId of idsIn(query.teamId))
    if (!(await findTeam(db, account.id, teamId))) throw new ApiError('TICKET_TEAM_NOT_FOUND')
  for (const memberId of [...idsIn(query.assigneeId), ...idsIn(query.mentionedId)])
    await requireMember(db, account.id, { memberId })
}

const idsIn = (list: string | undefined): string[] =>
  commaList(list).filter((id) => id !== 'none' && id !== 'me')

const noView = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', { message: 'The view does not exist.' })

type Owner = { member_id: string | null; team_id: string | null }

async function ownerOf(db: Db, { account, member }: Caller, { owner, teamId }: Wanted): Promise<Owner> {
  if (owner !== 'team' && teamId) throw invalidField('teamId', 'Only a view of a team has one.')
  if (owner === 'all') return { member_id: null, team_id: null }
  if (owner === 'member') {
    if (!member) throw invalidField('owner', 'An API key has no views of its own. Use team or all.')
    return { member_id: member.id, team_id: null }
  }
  if (!teamId) throw invalidField('teamId', 'Say which team the view is for.')
  const team = await findTeam(db, account.id, teamId)
  if (!team || (member?.agentIds && !member.agentIds.includes(team.agent_id)))
    throw new ApiError('TICKET_TEAM_NOT_FOUND')
  return { member_id: null, team_id: team.id }
}

async function findTeam(db: Db, accountId: AccountId, id: string) {
  if (!isId(id)) return undefined
  return db
    .selectFrom('teams')
    .select(['id', 'agent_id'])
    .where('account_id', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}
