import { REMOVE_FILES, type RemoveFiles } from '../agents/tasks.ts'
import type { Context } from '../context.ts'
import type { AccountId } from '../db/tables.ts'
import { folderOf } from './files.ts'
import { moveKnowledge, requireSource, type SourceRow } from './queries.ts'
import { excludeTicket } from './tickets/exclude-ticket.ts'

/** Deletes a source with its chunks; answers read the moved knowledge version and no longer find it. */
export async function deleteSource(
  { db, jobs }: Pick<Context, 'db' | 'jobs'>,
  accountId: AccountId,
  agentId: string,
  sourceId: string,
): Promise<SourceRow> {
  return db.transaction().execute(async (trx) => {
    const row = await requireSource(trx, accountId, agentId, sourceId, true)
    await trx.deleteFrom('sources').where('account_id', '=', accountId).where('id', '=', sourceId).execute()
    await moveKnowledge(trx, accountId, agentId)
    if (row.type === 'ticket') await excludeTicket(trx, row)
    if (row.type === 'file') {
      await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: folderOf(accountId, agentId, sourceId) })
    }
    return row
  })
}
