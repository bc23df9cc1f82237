import { sql } from 'kysely'
import { REMOVE_FILES, type RemoveFiles } from '../../../agents/jobs.ts'
import { isSafePath } from '../../../agents/pictures/safe-path.ts'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import type { Jobs } from '../../../platform/jobs/jobs.ts'

/** Deletes the files of conversations and tickets. Their rows are deleted with these. */
export async function dropFiles(
  trx: Trx,
  jobs: Pick<Jobs, 'enqueue'>,
  accountId: AccountId,
  { conversationIds = [], ticketIds = [] }: { conversationIds?: string[]; ticketIds?: string[] },
): Promise<void> {
  const { rows } = await sql<{ path: string }>`
    select path from attachments where account_id = ${accountId}
      and (conversation_id = any(${conversationIds}::uuid[]) or ticket_id = any(${ticketIds}::uuid[]))`.execute(
    trx,
  )
  for (const { path } of rows.filter((row) => isSafePath(row.path, accountId)))
    await jobs.enqueue<RemoveFiles>(trx, REMOVE_FILES, { folder: path })
}
