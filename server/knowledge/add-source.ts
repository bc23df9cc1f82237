import type { Insertable } from 'kysely'
import type { Db } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import type { AccountId, SourcesTable } from '../db/tables.ts'
import { ApiError } from '../http/errors.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { SourceRow } from './queries.ts'
import { takeRoom } from './room.ts'
import { TRAIN_SOURCE, type TrainSource } from './train-task.ts'

export type Account = { id: AccountId; plan: string }
export type NewSource = Pick<
  Insertable<SourcesTable>,
  'type' | 'name' | 'content' | 'metadata' | 'link_type' | 'url'
> & {
  id?: string
  size: number
}

/** Stores a source and the job that trains it, in one transaction. Throws SOURCE_DUPLICATE, SOURCE_SIZE_LIMIT_EXCEEDED. */
export async function addSource(
  { db, jobs }: { db: Db; jobs: Jobs },
  account: Account,
  agentId: string,
  { id = newId(), ...source }: NewSource,
): Promise<SourceRow> {
  try {
    return await db.transaction().execute(async (trx) => {
      await takeRoom(trx, account, agentId, source.size)
      const row = await trx
        .insertInto('sources')
        .values({ ...source, id, account_id: account.id, agent_id: agentId, status: 'untrained' })
        .returningAll()
        .executeTakeFirstOrThrow()
      await jobs.enqueue<TrainSource>(trx, TRAIN_SOURCE, { sourceId: id, version: row.content_version })
      return row
    })
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'sources_link')
      throw new ApiError('SOURCE_DUPLICATE')
    throw error
  }
}
