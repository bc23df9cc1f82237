import { sql } from 'kysely'
import type { Trx } from '../../../platform/db/database.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'

/**
 * Deletes the unanswered questions of conversations. A group that was named after one of them is renamed after another
 * one, and is deleted with its last question.
 */
export async function dropUnanswered(
  trx: Trx,
  accountId: AccountId,
  conversationIds: string[],
): Promise<void> {
  const gone = await trx
    .deleteFrom('unanswered_questions')
    .where('account_id', '=', accountId)
    .where('conversation_id', 'in', conversationIds)
    .returning(['group_id', 'question'])
    .execute()
  if (gone.length === 0) return
  const groupIds = [...new Set(gone.map(({ group_id }) => group_id))]
  await sql`
    delete from unanswered_groups as g where account_id = ${accountId} and id = any(${groupIds}::uuid[])
      and not exists (select from unanswered_questions where group_id = g.id)`.execute(trx)
  // The key also contains the words of a question. Without it, the group is still found by similarity.
  await sql`
    update unanswered_groups as g set key = id::text, question = (
      select question from unanswered_questions where group_id = g.id order by asked_at desc limit 1)
    where account_id = ${accountId} and id = any(${groupIds}::uuid[])
      and question = any(${gone.map(({ question }) => question)}::text[])`.execute(trx)
}
