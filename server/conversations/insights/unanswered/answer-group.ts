import type { Context } from '../../../context.ts'
import { type Account, insertSource } from '../../../knowledge/sources/add-source.ts'
import { changeAnswer, qnaColumns } from '../../../knowledge/sources/qna-source.ts'
import { requireSource, type SourceRow } from '../../../knowledge/sources/queries.ts'
import type { Trx } from '../../../platform/db/database.ts'
import { ownRow } from '../../../platform/db/refs.ts'
import { json } from '../../../platform/db/statements/json.ts'
import { transact } from '../../../platform/db/statements/transact.ts'
import type { AccountId } from '../../../platform/db/tables/columns.ts'
import { refuseAsRight } from '../../records/correct-answer.ts'
import { textOf } from '../../records/parts.ts'
import { lockInsights } from '../days/lock-agent.ts'
import { type GroupRow, requireGroup } from './queries.ts'

/** The number of the agent's answers with which a person's is compared. */
const COMPARED = 20

type GroupPath = { agentId: string; groupId: string }

/**
 * Turns the answer to a group of questions into a source of the agent, or updates the source made before. Throws
 * RESOURCE_NOT_FOUND, SOURCE_SIZE_LIMIT_EXCEEDED, SOURCE_NOT_FOUND when the source is deleted at the same time, and as
 * refuseAsRight does.
 */
export async function answerGroup(
  ctx: Pick<Context, 'db' | 'jobs' | 'filesDir'>,
  account: Account,
  { agentId, groupId }: GroupPath,
  given: { answer: string; question?: string },
): Promise<SourceRow> {
  const source = await transact(ctx.db, async (trx) => {
    // Two concurrent answers must not both conclude that there is no source yet.
    await lockInsights(trx, agentId)
    const group = await requireGroup(trx, { accountId: account.id, agentId }, groupId)
    refuseAsRight(given.answer, await answersOf(trx, account.id, groupId))
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

/** Returns what the agent last said to these questions. */
async function answersOf(trx: Trx, accountId: AccountId, groupId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('unanswered_questions')
    .innerJoin('messages', 'messages.id', 'unanswered_questions.message_id')
    .select('messages.parts')
    .where('unanswered_questions.account_id', '=', accountId)
    .where('messages.account_id', '=', accountId)
    .where('group_id', '=', groupId)
    .orderBy('asked_at', 'desc')
    .limit(COMPARED)
    .execute()
  return rows.map(textOf)
}

async function setAnswered(trx: Trx, accountId: AccountId, groupId: string, sourceId: string): Promise<void> {
  await trx
    .updateTable('unanswered_groups')
    .set({ status: 'answered', source_id: sourceId, answered_at: new Date() })
    .where(ownRow(accountId, groupId))
    .execute()
}

/** Sets the status by hand. Throws RESOURCE_NOT_FOUND. */
export async function setGroupStatus(
  { db }: Pick<Context, 'db'>,
  accountId: AccountId,
  { agentId, groupId }: GroupPath,
  status: 'open' | 'dismissed',
): Promise<GroupRow> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    await requireGroup(trx, { accountId, agentId }, groupId)
    return trx
      .updateTable('unanswered_groups')
      .set({ status })
      .where(ownRow(accountId, groupId))
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}
