import type { Context } from '../../context.ts'
import type { Trx } from '../../db/database.ts'
import { json } from '../../db/statements/json.ts'
import { transact } from '../../db/statements/transact.ts'
import type { AccountId } from '../../db/tables/columns.ts'
import { type Account, insertSource } from '../../knowledge/sources/add-source.ts'
import { changeAnswer, qnaColumns } from '../../knowledge/sources/qna-source.ts'
import { requireSource, type SourceRow } from '../../knowledge/sources/queries.ts'
import { lockInsights } from '../days/lock-agent.ts'
import { type GroupRow, requireGroup } from './queries.ts'

type Place = { agentId: string; groupId: string }

/**
 * Turns the answer to a group of questions into a source of the agent, or updates the source made before. Throws
 * RESOURCE_NOT_FOUND, SOURCE_SIZE_LIMIT_EXCEEDED, and SOURCE_NOT_FOUND when the source is deleted at the same time.
 */
export async function answerGroup(
  ctx: Pick<Context, 'db' | 'jobs' | 'filesDir'>,
  account: Account,
  { agentId, groupId }: Place,
  given: { answer: string; question?: string },
): Promise<SourceRow> {
  const source = await transact(ctx.db, async (trx) => {
    // Two concurrent answers must not both conclude that there is no source yet.
    await lockInsights(trx, agentId)
    const group = await requireGroup(trx, { accountId: account.id, agentId }, groupId)
    const before =
      group.source_id &&
      (await requireSource(trx, { accountId: account.id, agentId, sourceId: group.source_id }))
    if (before && before.status !== 'toBeDeleted') {
      await setAnswered(trx, account.id, groupId, before.id)
      return before
    }
    const added = await insertSource(trx, ctx.jobs, account, agentId, {
      ...qnaColumns([given.question ?? group.question], given.answer),
      metadata: json({ unansweredId: groupId }),
    })
    await setAnswered(trx, account.id, groupId, added.id)
    return added
  })
  return changeAnswer(ctx, account, agentId, source, given)
}

async function setAnswered(trx: Trx, accountId: AccountId, groupId: string, sourceId: string): Promise<void> {
  await trx
    .updateTable('unanswered_groups')
    .set({ status: 'answered', source_id: sourceId, answered_at: new Date() })
    .where('account_id', '=', accountId)
    .where('id', '=', groupId)
    .execute()
}

/** Sets the status by hand. Throws RESOURCE_NOT_FOUND. */
export async function setGroupStatus(
  { db }: Pick<Context, 'db'>,
  accountId: AccountId,
  { agentId, groupId }: Place,
  status: 'open' | 'dismissed',
): Promise<GroupRow> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    await requireGroup(trx, { accountId, agentId }, groupId)
    return trx
      .updateTable('unanswered_groups')
      .set({ status })
      .where('account_id', '=', accountId)
      .where('id', '=', groupId)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}
