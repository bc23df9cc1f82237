import { sql } from 'kysely'
import type { Trx } from '../../platform/db/database.ts'
import { ownRow } from '../../platform/db/refs.ts'
import type { AccountId } from '../../platform/db/tables/columns.ts'
import { metadataOf } from '../records/present.ts'
import type { TranscriptMessage } from '../records/queries.ts'

/**
 * Returns whether the author of a message has edited or deleted it since it was read. Whoever does so later waits for the
 * end of the transaction, and then finds what it has stored.
 */
export async function areTakenBack(
  trx: Trx,
  accountId: AccountId,
  conversationId: string,
  read: readonly TranscriptMessage[],
): Promise<boolean> {
  await trx
    .selectFrom('conversations')
    .select('id')
    .where(ownRow(accountId, conversationId))
    .forNoKeyUpdate()
    .execute()
  const versions = new Map(read.map((said) => [said.id, metadataOf(said).editedAt]))
  const changed = await trx
    .selectFrom('messages')
    .select(['id', 'metadata'])
    .where('account_id', '=', accountId)
    .where('conversation_id', '=', conversationId)
    .where(sql<boolean>`coalesce(metadata ->> 'editedAt', metadata ->> 'deletedAt') is not null`)
    .execute()
  return changed.some((row) => {
    const { editedAt, deletedAt } = metadataOf(row)
    return versions.has(row.id) && (deletedAt !== undefined || editedAt !== versions.get(row.id))
  })
}
