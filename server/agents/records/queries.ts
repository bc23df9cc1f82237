import { sql } from 'kysely'
import { monthOf } from '../../accounts/plans/credits.ts'
import type { Db } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { after, type Position } from '../../platform/http/pagination.ts'
import type { AgentRow } from './find-agent.ts'

/** The properties derived from other tables. The statuses of sources are counted and never stored with the agent. */
export type DerivedRow = {
  size: number
  processing: number
  failed: number
  live: number
  last_message_at: Date | null
  credits_used: number
}
export type FullAgentRow = AgentRow & DerivedRow

/** Selects the agents with the properties derived from sources, conversations and credits, in one query. */
function fullAgents(db: Db, accountId: AccountId) {
  return db
    .selectFrom('agents')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('sources')
          .select([
            sql<number>`coalesce(sum(size), 0)::bigint`.as('size'),
            sql<number>`count(*) filter (where status in ('untrained', 'updated'))`.as('processing'),
            sql<number>`count(*) filter (where status = 'failed')`.as('failed'),
            sql<number>`count(live_version)`.as('live'),
          ])
          .whereRef('sources.agent_id', '=', 'agents.id')
          .where('sources.left_out', '=', false)
          .as('knowledge'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('conversations')
          .select('updated_at as last_message_at')
          .whereRef('conversations.agent_id', '=', 'agents.id')
          .where('conversations.source', '<>', 'Playground')
          .orderBy('updated_at', 'desc')
          .limit(1)
          .as('activity'),
      (join) => join.onTrue(),
    )
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('credit_usage')
          .select((usage) => usage.fn.sum<number>('used').as('used'))
          .whereRef('credit_usage.owner_id', '=', 'agents.id')
          .where('credit_usage.month', '=', monthOf(new Date()))
          .as('usage'),
      (join) => join.onTrue(),
    )
    .selectAll('agents')
    .select((eb) => [
      eb.ref('knowledge.size').$notNull().as('size'),
      eb.ref('knowledge.processing').$notNull().as('processing'),
      eb.ref('knowledge.failed').$notNull().as('failed'),
      eb.ref('knowledge.live').$notNull().as('live'),
      'activity.last_message_at',
      eb.fn.coalesce('usage.used', eb.lit(0)).as('credits_used'),
    ])
    .where('agents.account_id', '=', accountId)
}

export async function findFullAgent(
  db: Db,
  { accountId, agentId }: AgentRef,
): Promise<FullAgentRow | undefined> {
  return fullAgents(db, accountId).where('agents.id', '=', agentId).executeTakeFirst()
}

/**
 * Returns up to `limit` + 1 agents, newest first, and how many the account has. `only` restricts both to those
 * agents.
 */
export async function listFullAgents(
  db: Db,
  accountId: AccountId,
  page: { limit: number; position: Position | null },
  only: string[] | null = null,
): Promise<{ rows: FullAgentRow[]; total: number }> {
  let query = fullAgents(db, accountId)
  if (only) query = query.where('agents.id', 'in', only)
  if (page.position) query = query.where(after('agents.created_at', 'agents.id', page.position))
  const rows = await query
    .orderBy('agents.created_at', 'desc')
    .orderBy('agents.id', 'desc')
    .limit(page.limit + 1)
    .execute()
  return { rows, total: await countAgents(db, accountId, only) }
}

export async function countAgents(
  db: Db,
  accountId: AccountId,
  only: string[] | null = null,
): Promise<number> {
  const { total } = await db
    .selectFrom('agents')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('account_id', '=', accountId)
    .$if(only !== null, (query) => query.where('id', 'in', only ?? []))
    .executeTakeFirstOrThrow()
  return total
}

export async function hasLiveSource(db: Db, ref: AgentRef): Promise<boolean> {
  const row = await db
    .selectFrom('sources')
    .select('id')
    .where(ofAgent(ref))
    .where('live_version', 'is not', null)
    .where('left_out', '=', false)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
