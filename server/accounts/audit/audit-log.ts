import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { DateRange } from '../../platform/http/input/dates.ts'
import { after, type Position } from '../../platform/http/pagination.ts'

type Filter = { actor?: string | undefined; action?: string | undefined } & DateRange
type Page = { limit: number; position: Position | null }

/** Returns up to `limit` + 1 entries of the account, newest first, and the total number of matches. */
export async function auditEntries(
  db: Db,
  accountId: AccountId,
  { actor, action, from, until }: Filter,
  { limit, position }: Page,
) {
  let query = db.selectFrom('audit_log').where('audit_log.account_id', '=', accountId)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined)
    query = query.where(sql<SqlBool>`(action = ${action} or starts_with(action, ${`${action}.`}))`)
  if (from) query = query.where('audit_log.created_at', '>=', from)
  if (until) query = query.where('audit_log.created_at', '<=', until)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (position) query = query.where(after('audit_log.created_at', 'audit_log.id', position))
  const rows = await query
    .leftJoin('members', (join) =>
      join.on(sql<SqlBool>`actor = 'member:' || members.id and members.account_id = audit_log.account_id`),
    )
    .leftJoin('api_keys', (join) =>
      join.on(sql<SqlBool>`actor = 'key:' || api_keys.id and api_keys.account_id = audit_log.account_id`),
    )
    .selectAll('audit_log')
    .select(sql<string | null>`coalesce(members.name, api_keys.name)`.as('actor_name'))
    .orderBy('audit_log.created_at', 'desc')
    .orderBy('audit_log.id', 'desc')
    .limit(limit + 1)
    .execute()
  return { rows, total }
}
