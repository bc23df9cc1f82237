import type { Insertable } from 'kysely'
import { violates } from '../../platform/db/connections/database-errors.ts'
import type { Db, Trx } from '../../platform/db/database.ts'
import { newId } from '../../platform/db/ids.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import type { SourcesTable } from '../../platform/db/tables/knowledge.ts'
import { ApiError } from '../../platform/http/errors.ts'
import type { Jobs } from '../../platform/jobs/jobs.ts'
import { enqueueTraining } from '../training/enqueue-training.ts'
import type { SourceRow } from './queries.ts'
import { refuseUnfinished, reserveStorage } from './storage-limit.ts'

export type Account = { id: AccountId; plan: string }
type NewSource = Pick<
  Insertable<SourcesTable>,
  'type' | 'name' | 'content' | 'metadata' | 'link_type' | 'url' | 'external_id' | 'message_id' | 'fixed_keys'
> & {
  id?: string
  size: number
}

/**
 * Stores a source and the job that trains it in one transaction. Throws SOURCE_DUPLICATE and
 * SOURCE_SIZE_LIMIT_EXCEEDED, and as refuseUnfinished does.
 */
export async function addSource(
  { db, jobs }: { db: Db; jobs: Jobs },
  account: Account,
  agentId: string,
  source: NewSource,
): Promise<SourceRow> {
  try {
    return await transact(db, (trx) => insertSource(trx, jobs, account, agentId, source))
  } catch (error) {
    if (violates(error, 'sources_link') || violates(error, 'sources_page'))
      throw new ApiError('SOURCE_DUPLICATE')
    throw error
  }
}

/** Does the same in the caller's transaction. */
export async function insertSource(
  trx: Trx,
  jobs: Jobs,
  account: Account,
  agentId: string,
  { id = newId(), ...source }: NewSource,
): Promise<SourceRow> {
  await refuseUnfinished(trx, account)
  const row = await trx
    .insertInto('sources')
    .values({ ...source, id, account_id: account.id, agent_id: agentId, status: 'untrained' })
    .returningAll()
    .executeTakeFirstOrThrow()
  await enqueueTraining(jobs, trx, row)
  // This is the last statement, so that many uploads to one agent wait for each other only for this and the commit.
  await reserveStorage(trx, account, agentId, source.size, id)
  return row
}
