import type { Insertable } from 'kysely'
import type { Trx } from '../../db/database.ts'
import { newId } from '../../db/ids.ts'
import type { ConversationsTable } from '../../db/tables/conversations.ts'
import type { ConversationRow } from './queries.ts'

/** Creates a conversation that has no messages yet. */
export const openConversation = (
  trx: Trx,
  values: Omit<Insertable<ConversationsTable>, 'id' | 'status'>,
): Promise<ConversationRow> =>
  trx
    .insertInto('conversations')
    .values({ id: newId(), status: 'ongoing', ...values })
    .returningAll()
    .executeTakeFirstOrThrow()
