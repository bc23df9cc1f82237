import { holdAgent } from '../../agents/records/find-agent.ts'
import type { Context } from '../../context.ts'
import { ownRow } from '../../platform/db/refs.ts'
import { json } from '../../platform/db/statements/json.ts'
import { transact } from '../../platform/db/statements/transact.ts'
import type { Account } from './add-source.ts'
import { setLeftOut } from './left-out.ts'
import { requireChangeable, type SourceRow } from './queries.ts'
import { sizeOf } from './storage-limit.ts'
import { updateSource } from './update-source.ts'

/** The same limit as in schema.ts. */
const MAX_NAME_LENGTH = 100

/** Returns the columns of a source of questions and an answer. It is named after the first question. */
export const qnaColumns = (questions: readonly [string, ...string[]], answer: string) => ({
  type: 'qna' as const,
  name: questions[0].slice(0, MAX_NAME_LENGTH).toWellFormed().trim(),
  content: json({ questions, answer }),
  size: sizeOf(answer, ...questions),
})

/** Changes the answer of a source, and its question if one is given. Equal values change nothing. */
export async function changeAnswer(
  ctx: Pick<Context, 'db' | 'jobs' | 'filesDir'>,
  account: Account,
  agentId: string,
  source: SourceRow,
  { answer, question }: { answer: string; question?: string },
): Promise<SourceRow> {
  const ref = { accountId: account.id, agentId }
  const place = { agentId, sourceId: source.id }
  return transact(ctx.db, async (trx) => {
    await holdAgent(trx, ref)
    const row = await requireChangeable(trx, { ...ref, sourceId: source.id }, true)
    const { questions = [], answer: before } = row.content
    const isSameQuestion = question === undefined || (questions.length === 1 && questions[0] === question)
    const isSame = before === answer && isSameQuestion
    if (row.left_out) {
      // The text that was taken out of live answers stays out of them while the new one is read.
      if (!isSame)
        await trx
          .updateTable('sources')
          .set({ live_version: null, content_hash: null })
          .where(ownRow(account.id, row.id))
          .execute()
      // Whoever answers wants it to be said.
      await setLeftOut(trx, ctx.jobs, ref, [row.id], false)
    }
    if (isSame) return { ...row, left_out: false }
    const change = { answer, ...(question === undefined ? {} : { questions: [question] }) }
    return updateSource({ ...ctx, db: trx }, account, place, change)
  })
}
