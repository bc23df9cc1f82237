import { sql } from 'kysely'
import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { enqueueAskAgain } from '../training/enqueue-ask-again.ts'
import { markDeleted } from './delete-source.ts'

/**
 * Takes these sources out of live answers, or back into them, in which they have their external ids again unless another
 * source has taken their place. The caller has locked the agent.
 */
export async function setLeftOut(
  trx: Trx,
  jobs: Jobs,
  ref: AgentRef,
  ids: readonly string[],
  leftOut: boolean,
): Promise<void> {
  if (ids.length === 0) return
  if (leftOut) await refuseFormerVersion(trx)
  else
    await sql`
      update sources set external_id = null
      where account_id = ${ref.accountId} and agent_id = ${ref.agentId} and id = any(${ids}::uuid[])
        and exists (select from sources as other where other.account_id = ${ref.accountId}
          and other.agent_id = ${ref.agentId} and other.external_id = sources.external_id and other.id <> sources.id
          and (not other.left_out or other.id = any(${ids}::uuid[]) and other.id > sources.id))`.execute(trx)
  await trx
    .updateTable('sources')
    .set({ left_out: leftOut })
    .where(ofAgent(ref))
    .where('id', 'in', ids)
    .execute()
  await bumpKnowledgeVersion(trx, ref, !leftOut)
  if (!leftOut) await enqueueAskAgain(jobs, trx, ref)
}

/**
 * Keeps the version of the program that does not know sources which are left out from answering with them: throws
 * SERVICE_UNDER_MAINTENANCE while a process of it runs, as in the middle of an upgrade, and no other one starts from now on.
 */
async function refuseFormerVersion(trx: Trx): Promise<void> {
  const former = await trx
    .selectFrom('processes')
    .select('id')
    .where('alive', '=', true)
    .where('knows_left_out', '=', false)
    .limit(1)
    .executeTakeFirst()
  if (former)
    throw new ApiError('SERVICE_UNDER_MAINTENANCE', {
      message:
        'The service is being upgraded, and a process of the former version would answer customers with what is left out of live answers. Try again when the upgrade is complete.',
    })
  await sql`
    update applied_migrations set compatible_from = '0148'
    where name = '0148_agent_drafts.sql' and compatible_from < '0148'`.execute(trx)
}

/** Deletes those of these sources that live answers leave out. The caller has locked the agent. */
export async function deleteLeftOut(trx: Trx, ref: AgentRef, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const rows = await trx
    .selectFrom('sources')
    .selectAll()
    .where(ofAgent(ref))
    .where('id', 'in', ids)
    .where('left_out', '=', true)
    .where('status', '<>', 'toBeDeleted')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  for (const row of rows) await markDeleted(trx, row)
}
