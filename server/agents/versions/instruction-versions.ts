import { type Selectable, sql } from 'kysely'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import type { InstructionVersionsTable } from '../../platform/db/tables/agents.ts'
import { newestFirst, type PageRequest } from '../../platform/http/pagination.ts'
import { requireRow } from '../../platform/http/require-row.ts'
import type { AgentRow } from '../records/find-agent.ts'

export type VersionRow = Selectable<InstructionVersionsTable>

const MAX_VERSIONS = 50

/** Returns whether one of the changed columns is part of what the agent is told. */
export const changesInstructions = (columns: object): boolean =>
  ['instructions', 'channel_instructions', 'model', 'temp'].some((column) => column in columns)

/**
 * Stores what the agent is told now as a version, and what it was told before unless the newest version holds that.
 * Does nothing when both are the same. The caller must have locked the agent.
 */
export async function keepVersion(trx: Trx, before: AgentRow, now: AgentRow, actor: string): Promise<void> {
  const { account_id, id: agentId } = before
  const same = (a: VersionedFields, b: VersionedFields): boolean =>
    JSON.stringify(toldOf(a)) === JSON.stringify(toldOf(b))
  if (same(before, now)) return
  const newest = await trx
    .selectFrom('instruction_versions')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('agent_id', '=', agentId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!newest || !same(newest, before)) await insert(trx, before, null)
  await insert(trx, now, actor)
  await sql`delete from instruction_versions where account_id = ${account_id} and agent_id = ${agentId}
    and id not in (select id from instruction_versions where account_id = ${account_id} and agent_id = ${agentId}
      order by created_at desc, id desc limit ${MAX_VERSIONS})`.execute(trx)
}

type VersionedFields = Pick<AgentRow, 'instructions' | 'channel_instructions' | 'model' | 'temp'>

const toldOf = ({ instructions, channel_instructions, model, temp }: VersionedFields): unknown[] => [
  instructions,
  channel_instructions,
  model,
  temp,
]

async function insert(trx: Trx, agent: AgentRow, actor: string | null): Promise<void> {
  const { id, account_id, instructions, channel_instructions, model, temp } = agent
  await trx
    .insertInto('instruction_versions')
    .values({
      id: newId(),
      account_id,
      agent_id: id,
      instructions,
      channel_instructions: json(channel_instructions),
      model,
      temp,
      actor,
    })
    .execute()
}

/** Returns up to `limit` + 1 versions, newest first, and the total number. */
export async function versionsOf(
  db: Db,
  ref: AgentRef,
  page: PageRequest,
): Promise<{ rows: VersionRow[]; total: number }> {
  const query = db.selectFrom('instruction_versions').where(ofAgent(ref))
  return newestFirst(query.selectAll(), page)
}

/** Returns the agent's version with this id. Throws RESOURCE_NOT_FOUND when there is none. */
export async function requireVersion(db: Db, ref: AgentRef, id: string): Promise<VersionRow> {
  return requireRow(
    db.selectFrom('instruction_versions').selectAll().where(ofAgent(ref)),
    id,
    'The agent has no such version.',
  )
}
