import { bumpKnowledgeVersion } from '../../agents/records/knowledge-state.ts'
import type { Trx } from '../../platform/db/database.ts'
import { type AgentRef, ofAgent } from '../../platform/db/refs.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { enqueueAskAgain } from '../training/enqueue-ask-again.ts'
import { markDeleted } from './delete-source.ts'

/** Takes these sources out of live answers, or back into them. The caller has locked the agent. */
export async function setLeftOut(
  trx: Trx,
  jobs: Jobs,
  ref: AgentRef,
  ids: readonly string[],
  leftOut: boolean,
): Promise<void> {
  if (ids.length === 0) return
  await trx
    .updateTable('sources')
    // Another source can take its place for the application that has named it.
    .set({ left_out: leftOut, ...(leftOut ? { external_id: null } : {}) })
    .where(ofAgent(ref))
    .where('id', 'in', ids)
    .execute()
  await bumpKnowledgeVersion(trx, ref, !leftOut)
  if (!leftOut) await enqueueAskAgain(jobs, trx, ref)
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
