import type { Context } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import type { AgentRef } from '../../db/refs.ts'
import { transact } from '../../db/statements/transact.ts'
import type { Analyst } from '../../db/tables/conversations.ts'
import type { Stemmer } from '../../text/languages/stem.ts'
import { lockInsights } from '../days/lock-agent.ts'
import type { Sentiment } from '../sentiment/rate-sentiment.ts'
import { setTopics } from '../topics/assign-topics.ts'
import { type Candidate, keepCandidates } from '../topics/promote-candidates.ts'
import type { Unanswered } from '../unanswered/find-unanswered.ts'
import { groupQuestions } from '../unanswered/group-questions.ts'
import type { Claim } from './claim-conversations.ts'

export type Analysis = {
  by: Analyst
  /** null: the customer wrote nothing. */
  sentiment: Sentiment | null
  topicIds: readonly string[]
  candidates: readonly Candidate[]
  unanswered: readonly Unanswered[]
}

/** Stores the result. Returns false when something has happened in the conversation meanwhile. */
export async function storeAnalysis(
  { db, words }: Pick<Context, 'db' | 'words'>,
  stem: Stemmer,
  { accountId, agentId }: AgentRef,
  { id, held }: Claim,
  { by, sentiment, topicIds, candidates, unanswered }: Analysis,
): Promise<boolean> {
  return transact(db, async (trx) => {
    await lockInsights(trx, agentId)
    const stored = await trx
      .updateTable('conversations')
      .set({
        sentiment,
        sentiment_by: sentiment === null ? null : by,
        topics_by: by,
        analysed_at: new Date(),
      })
      .set({ analysis_due: null, analysis_held: null, analysis_tries: 0 })
      .where('account_id', '=', accountId)
      .where('id', '=', id)
      .where('analysis_held', '=', new Date(held))
      .returning('id')
      .executeTakeFirst()
    if (!stored) return false
    await setTopics(trx, { accountId, agentId, conversationId: id }, topicIds)
    const place = { accountId, agentId, conversationId: id }
    await keepCandidates(trx, stem, place, candidates)
    await groupQuestions(trx, { words, stem }, place, unanswered)
    return true
  })
}

const FIRST_WAIT_MS = 5 * 60_000

/** Postpones the analysis: by 5 minutes after the first failure, then 15, then 45. */
export async function postpone(db: Db, ref: AgentRef, { id, held }: Claim, tries: number): Promise<void> {
  await db
    .updateTable('conversations')
    .set({ analysis_due: new Date(Date.now() + FIRST_WAIT_MS * 3 ** tries), analysis_held: null })
    .set({ analysis_tries: tries + 1 })
    .where('account_id', '=', ref.accountId)
    .where('id', '=', id)
    .where('analysis_held', '=', new Date(held))
    .execute()
}
