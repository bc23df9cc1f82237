import type { Db } from '../../platform/db/database.ts'
import type { AgentRef } from '../../platform/db/refs.ts'
import { after, type Position } from '../../platform/http/pagination.ts'

type Page = { limit: number; position: Position | null }

/** Returns up to `limit` + 1 runs of the agent's action of that name, newest first, and the total number. */
export async function runsOfAction(
  db: Db,
  { accountId, agentId, name }: AgentRef & { name: string },
  { limit, position }: Page,
) {
  let query = db
    .selectFrom('tool_calls as run')
    .where('run.account_id', '=', accountId)
    .where('run.agent_id', '=', agentId)
    .where('run.name', '=', name)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (position) query = query.where(after('run.created_at', 'run.id', position))
  const rows = await query
    .innerJoin('conversations', (join) =>
      join
        .onRef('conversations.id', '=', 'run.conversation_id')
        .on('conversations.account_id', '=', accountId),
    )
    .select(['run.id', 'run.conversation_id', 'run.input', 'run.output', 'run.status'])
    .select(['conversations.source', 'run.created_at as at', 'run.resolved_at as ended_at'])
    .orderBy('run.created_at', 'desc')
    .orderBy('run.id', 'desc')
    .limit(limit + 1)
    .execute()
  return { rows, total: Number(total) }
}

/** Returns up to `limit` + 1 runs of a procedure, newest first, and the total number. */
export async function runsOfProcedure(
  db: Db,
  { accountId, agentId, procedureId }: AgentRef & { procedureId: string },
  { limit, position }: Page,
) {
  let query = db
    .selectFrom('procedure_runs as run')
    .where('run.account_id', '=', accountId)
    .where('run.agent_id', '=', agentId)
    .where('run.procedure_id', '=', procedureId)
  const { total } = await query.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  if (position) query = query.where(after('run.started_at', 'run.id', position))
  const rows = await query
    .innerJoin('conversations', (join) =>
      join
        .onRef('conversations.id', '=', 'run.conversation_id')
        .on('conversations.account_id', '=', accountId),
    )
    .select(['run.id', 'run.conversation_id', 'run.status'])
    .select(['conversations.source', 'run.started_at as at', 'run.ended_at'])
    .orderBy('run.started_at', 'desc')
    .orderBy('run.id', 'desc')
    .limit(limit + 1)
    .execute()
  return { rows, total: Number(total) }
}
